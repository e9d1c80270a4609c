import { z } from 'zod'
import { agentTarget } from './automation.ts'
import { environmentSpec } from './environment.ts'
import {
  anyJson,
  conditions,
  content,
  messageField,
  objectName,
  observedGeneration,
  timeField,
  uidField,
} from './fields.ts'
import { defineKind, frozenSpec, statusStays } from './kind.ts'
import { pin } from './program.ts'
import { programReference } from './references.ts'

/**
 * For what one writer writes once or always whole: to keep who owns each field of it, event and all, would take more room
 * in etcd than it has itself.
 */
const writtenWhole = { 'x-kubernetes-map-type': 'atomic' } as const

export const automationFiringSpec = z
  .strictObject({
    automation: z
      .strictObject({
        name: objectName('Name of the Automation.'),
        uid: uidField('UID of the Automation; where given, only that very one.').optional(),
      })
      .describe('The Automation that is fired.'),
    trigger: z
      .enum(['schedule', 'event', 'manual'])
      .describe('Class of what caused the firing. People make manual ones.'),
    entry: z
      .string()
      .min(1)
      .max(63)
      .optional()
      .describe('Id of the trigger it enters by; default the manual trigger, else the only one.'),
    occurrence: z.string().max(64).optional().describe('schedule: the nominal instant, in UTC.'),
    idempotencyKey: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .describe(
        'manual: the same user and key name the same firing. The name of the object must then be the computed one.',
      ),
    event: anyJson('The event: what {{event}} renders and conditions read. At most 256 KiB.').optional(),
    requestedBy: z.string().min(1).max(256).describe('User name of who asked. It must be your own.'),
  })
  .meta({
    ...writtenWhole,
    'x-kubernetes-validations': [
      {
        rule: "self.trigger == 'manual' || !has(self.idempotencyKey)",
        message: 'idempotencyKey belongs to manual firings',
      },
      {
        rule: "self.trigger == 'schedule' || !has(self.occurrence)",
        message: 'occurrence belongs to scheduled firings',
      },
    ],
  })
export type AutomationFiringSpec = z.infer<typeof automationFiringSpec>

const environmentSnapshot = z.strictObject({
  name: objectName('Name of the Environment.'),
  uid: uidField('Its UID.'),
  generation: z.int().min(1).describe('Its generation.'),
  spec: environmentSpec.describe('Its spec at admission.'),
})
export type EnvironmentSnapshot = z.infer<typeof environmentSnapshot>

const principal = z.strictObject({
  serviceAccountName: objectName('Name of the ServiceAccount.'),
  uid: uidField('Its UID.'),
})

const admission = z.strictObject({
  automationUID: uidField('UID of the Automation.'),
  automationGeneration: z.int().min(1).describe('Its generation.'),
  entry: z.string().max(63).describe('Id of the trigger entered by.'),
  program: programReference.optional().describe('The program that runs.'),
  agent: agentTarget.optional().describe('The one agent that runs, where there is no program.'),
  pins: z.array(pin).max(100).describe('Agent versions that run.'),
  environment: environmentSnapshot.describe('The Environment as it was.'),
  principal: principal.describe('Who the firing acts as.'),
  admittedAt: timeField('When the firing was admitted.'),
})
export type Admission = z.infer<typeof admission>

/** Outcome kinds of a step. Those of {@link terminalOutcomeKinds} are written once. */
export const outcomeKinds = [
  'running',
  'waiting',
  'awaiting_approval',
  'completed',
  'failed',
  'rejected',
  'denied',
  'skipped',
] as const
export type OutcomeKind = (typeof outcomeKinds)[number]

/** Outcomes that never change again. */
export const terminalOutcomeKinds = [
  'completed',
  'failed',
  'rejected',
  'denied',
  'skipped',
] as const satisfies readonly OutcomeKind[]

const stepOutcome = z.strictObject({
  kind: z.enum(outcomeKinds).describe('Where the step stands.'),
  reason: z.string().max(128).optional().describe('Machine code of why; unknown codes are to be shown as they are.'),
  message: messageField('The reason in words.').optional(),
  attempt: z.int().min(0).optional().describe('Number of the attempt, starting at 0.'),
  arm: z.enum(['continue', 'otherwise']).optional().describe('Arm that a decision took.'),
  session: objectName('Session that does the work.').optional(),
  output: content.optional().describe('What the step produced.'),
  startedAt: timeField('When it started.').optional(),
  settledAt: timeField('When it settled.').optional(),
})
export type StepOutcome = z.infer<typeof stepOutcome>

export const firingPhases = ['Pending', 'Running', 'Waiting', 'Succeeded', 'Failed', 'Cancelled', 'Skipped'] as const
export type FiringPhase = (typeof firingPhases)[number]

/** Phases that never change again. */
export const settledFiringPhases: readonly FiringPhase[] = ['Succeeded', 'Failed', 'Cancelled', 'Skipped']

const terminalList = terminalOutcomeKinds.map((kind) => `'${kind}'`).join(', ')

export const automationFiringStatus = z
  .strictObject({
    observedGeneration,
    phase: z.enum(firingPhases).optional().describe('Where the firing stands.'),
    reason: z.string().max(128).optional().describe('Why, in CamelCase.'),
    message: messageField('Why in words, and what to do next.').optional(),
    step: z.string().max(256).optional().describe('The steps that are under way, or the one that failed.'),
    admission: admission
      .meta({ description: 'What was frozen when the firing was admitted. Written once.', ...writtenWhole })
      .optional(),
    steps: z
      .record(z.string().max(63), stepOutcome)
      .optional()
      .meta({
        description: 'Recorded outcome of each step. A terminal outcome is written once.',
        maxProperties: 100,
        ...writtenWhole,
      }),
    result: z
      .enum(['completed', 'failed', 'cancelled'])
      .optional()
      .describe('Result of the program; absent while anything is pending.'),
    output: content
      .meta({ description: 'Output of the last agent step, or of the last step that made one.', ...writtenWhole })
      .optional(),
    startedAt: timeField('When the firing was admitted.').optional(),
    settledAt: timeField('When it settled.').optional(),
    duration: z.string().max(32).optional().describe('From admission to settlement, in words.'),
    conditions,
  })
  .meta({
    'x-kubernetes-validations': [
      {
        rule: `!has(oldSelf.steps) || (has(self.steps) && oldSelf.steps.all(k, !(oldSelf.steps[k].kind in [${terminalList}]) || (k in self.steps && self.steps[k] == oldSelf.steps[k])))`,
        message: 'a terminal step outcome is written once and cannot be changed or removed',
      },
      {
        rule: '!has(oldSelf.admission) || (has(self.admission) && self.admission == oldSelf.admission)',
        message: 'admission is written once',
      },
      {
        rule: '!has(oldSelf.result) || (has(self.result) && self.result == oldSelf.result)',
        message: 'the result of a firing is written once',
      },
    ],
  })
export type AutomationFiringStatus = z.infer<typeof automationFiringStatus>

export const automationFiring = defineKind({
  kind: 'AutomationFiring',
  plural: 'automationfirings',
  shortNames: ['firing'],
  description:
    'One occurrence of an Automation and everything that came of it. Create one with trigger manual to fire by hand.',
  spec: automationFiringSpec,
  status: automationFiringStatus,
  columns: [
    { name: 'Automation', type: 'string', jsonPath: '.spec.automation.name' },
    { name: 'Trigger', type: 'string', jsonPath: '.spec.trigger' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Step', type: 'string', jsonPath: '.status.step' },
    { name: 'Reason', type: 'string', jsonPath: '.status.reason' },
    { name: 'Started', type: 'date', jsonPath: '.status.startedAt' },
    { name: 'Duration', type: 'string', jsonPath: '.status.duration' },
  ],
  rules: [frozenSpec, statusStays],
  keepsContent: true,
})
export type AutomationFiring = NonNullable<(typeof automationFiring)['example']>
