import { z } from 'zod'
import { policyFields } from './automation-policies.ts'
import { conditions, digestField, instant, messageField, objectName, observedGeneration, timeField } from './fields.ts'
import { triggerKinds } from './graph-document.ts'
import { ageColumn, defineKind } from './kind.ts'
import { failures, pause } from './pause.ts'
import { firingReference, programReference } from './references.ts'

const trigger = z.strictObject({
  id: z.string().min(1).max(63).describe('Name of the trigger; a graph uses the id of its node.'),
  kind: z.enum(triggerKinds).describe('What starts a firing.'),
  cron: z.string().max(256).optional().describe('schedule: five fields or a macro.'),
  timezone: z.string().max(64).optional().describe('schedule: IANA time zone.'),
  at: z.string().max(64).optional().describe('schedule_once: the instant, in UTC with milliseconds.'),
})
export type AutomationTrigger = z.infer<typeof trigger>

export const agentTarget = z.strictObject({
  name: objectName('Name of the Agent.'),
  version: objectName('AgentVersion to run; absent: the newest when a firing is admitted. A graph pins it.').optional(),
  prompt: z.string().max(65536).optional().describe('Template of the message.'),
  includeEvent: z.boolean().optional().describe('Append the event where the prompt references none of it.'),
  timeoutSeconds: z.int().min(1).max(86400).optional().describe('Seconds after which the firing fails.'),
})
export type AgentTarget = z.infer<typeof agentTarget>

const target = z
  .strictObject({
    agent: agentTarget.optional().describe('One agent.'),
    program: programReference.optional().describe('A compiled graph. Only a graph may set it.'),
  })
  .meta({
    description: 'What a firing runs: exactly one of the members.',
    'x-kubernetes-map-type': 'atomic',
    'x-kubernetes-validations': [
      { rule: 'has(self.agent) != has(self.program)', message: 'target needs exactly one of agent and program' },
    ],
  })

export const automationSpec = z.strictObject({
  triggers: z.array(trigger).min(1).max(3).meta({
    description: 'At most one of each class: schedule or schedule_once, webhook or subscription, manual.',
    // Atomic, as the target is: a plan replaces the value whole, also where the object was made by a POST.
    'x-kubernetes-list-type': 'atomic',
  }),
  target,
  environment: objectName('Environment in which every step runs.'),
  serviceAccountName: objectName('ServiceAccount the automation acts as.'),
  paused: z
    .boolean()
    .optional()
    .describe('True stops new firings from every source. People set it; a graph never does.'),
  ...policyFields,
  concurrencyPolicy: policyFields.concurrencyPolicy.unwrap().default('Allow'),
})
export type AutomationSpec = z.infer<typeof automationSpec>

/** Firings of one Automation that may be under way at once. */
export const maxActiveFirings = 100

/** Firings of one Automation that may wait to be started: half of them made by people, the rest by its schedule. */
export const maxPendingFirings = 400

/** Entries of `status.readiness`: a program may have more pins than that. */
export const readinessLimit = 64

const pendingFiring = z.strictObject({
  ...firingReference.shape,
  decision: z
    .enum(['ConcurrencyForbidden', 'Superseded'])
    .optional()
    .describe('Why it will not be started; absent while it waits for its turn.'),
})
export type PendingFiring = z.infer<typeof pendingFiring>

const skippedOccurrences = z.strictObject({
  reason: z.string().max(64).describe('Why they did not start, in CamelCase.'),
  count: z.int().min(1).describe('How many they are.'),
  first: instant('The first of them, in UTC.'),
  last: instant('The last of them, in UTC.'),
})
export type SkippedOccurrences = z.infer<typeof skippedOccurrences>

const scheduleStatus = z.strictObject({
  digest: digestField('Digest of the schedule that this was computed for.'),
  changedAt: instant('When the schedule last changed. Nothing up to then is due: editing never fires into the past.'),
  resumedAt: instant('When the Automation was last resumed. Nothing up to then is due.').optional(),
  watermark: instant(
    'The newest occurrence that was decided. No occurrence up to it is ever decided again.',
  ).optional(),
  next: instant('When the next occurrence starts, in UTC, jitter included.').optional(),
  once: z
    .strictObject({
      at: instant('The date that was seen last, in UTC with milliseconds.'),
      phase: z
        .enum(['Pending', 'Consumed', 'NotFuture'])
        .describe('Pending: still to start. Consumed: its firing has it.'),
      consumed: z
        .strictObject({ at: instant('The date.'), firing: objectName('Name of its firing.') })
        .optional()
        .describe('The date that was consumed last.'),
    })
    .optional()
    .describe('The one occurrence of a schedule_once trigger.'),
  skipped: z
    .array(skippedOccurrences)
    .max(10)
    .optional()
    .describe(
      'Occurrences that did not start, newest last: every one that is due and does not run has its reason here.',
    ),
})
export type ScheduleStatus = z.infer<typeof scheduleStatus>

const readinessEntry = z.strictObject({
  check: z.string().max(128).describe('What was checked.'),
  state: z.enum(['Failed', 'Unknown']).describe('Unknown blocks as a failure does.'),
  message: messageField('What is wrong and what to do about it.'),
})
export type ReadinessEntry = z.infer<typeof readinessEntry>

export const automationStates = ['Active', 'Paused', 'NotReady'] as const

export const automationStatus = z.strictObject({
  observedGeneration,
  state: z.enum(automationStates).optional().describe('Whether it may start firings.'),
  reason: z
    .string()
    .max(128)
    .optional()
    .describe('Why it is not active: ByHand (spec.paused), NotReady, or the reason of the failures that paused it.'),
  pause: pause
    .optional()
    .describe('A pause that the Automation made itself, because its firings fail again and again.'),
  failures: failures.optional().describe('What the next pause depends on.'),
  trigger: z.string().max(512).optional().describe('The triggers in words.'),
  next: z.string().max(128).optional().describe('When the schedule is due next, in words.'),
  readiness: z
    .array(readinessEntry)
    .max(readinessLimit)
    .optional()
    .describe('Each check that failed or could not be made; nothing new starts while there is one.'),
  active: z
    .array(firingReference)
    .max(maxActiveFirings)
    .optional()
    .describe('Firings that were started and have not settled. A firing runs only while its name stands here.'),
  pending: z
    .array(pendingFiring)
    .max(maxPendingFirings)
    .optional()
    .describe('Firings that are decided, but not started: they wait for their turn or are about to be skipped.'),
  schedule: scheduleStatus.optional().describe('What is known of the schedule.'),
  last: z
    .strictObject({
      firing: objectName('Name of the firing.'),
      result: z.string().max(32).describe('Its phase.'),
      time: timeField('When it settled.'),
    })
    .optional()
    .describe('The firing that settled last.'),
  conditions,
})
export type AutomationStatus = z.infer<typeof automationStatus>

export const automation = defineKind({
  kind: 'Automation',
  plural: 'automations',
  shortNames: ['auto'],
  description:
    'Something that fires: triggers and what they run. Written by hand for one agent, or made and owned by a graph.',
  spec: automationSpec,
  status: automationStatus,
  columns: [
    { name: 'Trigger', type: 'string', jsonPath: '.status.trigger' },
    { name: 'State', type: 'string', jsonPath: '.status.state' },
    { name: 'Reason', type: 'string', jsonPath: '.status.reason' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Next', type: 'string', jsonPath: '.status.next' },
    { name: 'Last', type: 'date', jsonPath: '.status.last.time' },
    { name: 'Result', type: 'string', jsonPath: '.status.last.result' },
    ageColumn,
  ],
})
export type Automation = NonNullable<(typeof automation)['example']>
