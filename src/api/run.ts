import { z } from 'zod'
import { conditions, content, messageField, objectName, observedGeneration, timeField, uidField } from './fields.ts'
import { defineKind, frozenSpec, statusStays } from './kind.ts'
import { firingReference } from './references.ts'
import { workPhases } from './session.ts'

export const runSpec = z.strictObject({
  session: z
    .strictObject({ name: objectName('Name of the Session.'), uid: uidField('Its UID.') })
    .describe('The session it belongs to.'),
  firing: firingReference.describe('The firing it works for.'),
  step: z.string().max(63).describe('Id of the step it works for.'),
  sequence: z.int().min(0).describe('Number of the run in its session, starting at 0.'),
})
export type RunSpec = z.infer<typeof runSpec>

const incarnation = z.strictObject({
  number: z.int().min(0).describe('Number of the incarnation, starting at 0. A newer one fences every older one.'),
  job: objectName('Name of its Job.'),
  jobUID: uidField('UID of its Job.').optional(),
  pod: z.string().max(253).optional().describe('Name of the one pod of that Job.'),
  podUID: uidField('UID of that pod: the only one the gateway talks to.').optional(),
  node: z.string().max(253).optional().describe('Node the pod was placed on.'),
  replaces: z
    .strictObject({
      node: z.string().max(253).optional().describe('Node that its pod was on.'),
      reason: z.string().max(128).describe('Why it was lost, in CamelCase.'),
      message: messageField('How it was lost, in words.'),
    })
    .optional()
    .describe('The incarnation before this one, which was lost.'),
})
export type Incarnation = z.infer<typeof incarnation>

/** Why a pod ended other than by itself with success. */
export const runCauses = [
  'Application',
  'Infrastructure',
  'Resource',
  'Deadline',
  'Refused',
  'Cancelled',
  'Indeterminate',
] as const
export type RunCause = (typeof runCauses)[number]

const runResult = z.strictObject({
  output: content.describe('What the main container left in /graphwright/output/result; empty where it left nothing.'),
  error: z
    .string()
    .max(128)
    .optional()
    .describe('Code of why the output could not be taken, for example output_not_utf8.'),
  incarnation: z.int().min(0).describe('Incarnation that reported it.'),
  reportedAt: timeField('When the gateway recorded it.'),
})
export type RunResult = z.infer<typeof runResult>

const usage = z.strictObject({
  tokens: z.int().min(0).optional().describe('Tokens used by models.'),
  costMicrousd: z.int().min(0).optional().describe('Cost in millionths of a US dollar.'),
})

/** CEL: this field of the incarnation is as it was, if it was there. */
function stays(field: string): string {
  return `(!has(oldSelf.incarnation.${field}) || (has(self.incarnation.${field}) && self.incarnation.${field} == oldSelf.incarnation.${field}))`
}

export const runStatus = z
  .strictObject({
    observedGeneration,
    phase: z.enum(workPhases).optional().describe('Where the run stands.'),
    reason: z.string().max(128).optional().describe('Why, in CamelCase.'),
    message: messageField('Why in words, and what to do next.').optional(),
    cause: z.enum(runCauses).optional().describe('Class of the failure.'),
    exitCode: z.int().optional().describe('Exit code of the main container.'),
    incarnation: incarnation.optional().describe('The pod that may act for this run.'),
    result: runResult
      .optional()
      .describe('What the pod of an incarnation reported. Written once by each, through the gateway.'),
    usage: usage.optional().describe('What the run used. Written by the gateway.'),
    output: content.optional().describe('The result that counts, once the run has succeeded.'),
    logs: content
      .optional()
      .describe('The last 64 KiB of the logs of the main container, once the run has settled or is told to end.'),
    startedAt: timeField('When the main container started.').optional(),
    cancelledAt: timeField('When its pod was told to end by request. What it reports later does not count.').optional(),
    settledAt: timeField('When the run settled.').optional(),
    duration: z.string().max(32).optional().describe('From creation to settlement, in words.'),
    conditions,
  })
  .meta({
    'x-kubernetes-validations': [
      {
        rule: '!has(oldSelf.result) || (has(self.result) && (self.result == oldSelf.result || self.result.incarnation > oldSelf.result.incarnation))',
        message: 'the result of a run is written once by each incarnation',
      },
      {
        rule: '!has(oldSelf.cancelledAt) || (has(self.cancelledAt) && self.cancelledAt == oldSelf.cancelledAt)',
        message: 'that a run was told to end is recorded once',
      },
      {
        rule: '!has(oldSelf.incarnation) || (has(self.incarnation) && self.incarnation.number >= oldSelf.incarnation.number)',
        message: 'incarnations only count up',
      },
      {
        rule: `!has(oldSelf.incarnation) || !has(self.incarnation) || self.incarnation.number != oldSelf.incarnation.number || (${[
          'self.incarnation.job == oldSelf.incarnation.job',
          stays('jobUID'),
          stays('podUID'),
        ].join(' && ')})`,
        message: 'the Job and the pod of an incarnation are recorded once; only a newer incarnation has others',
      },
    ],
  })
export type RunStatus = z.infer<typeof runStatus>

export const run = defineKind({
  kind: 'Run',
  plural: 'runs',
  shortNames: [],
  description:
    'One request in a Session. Each incarnation is a Job with one pod; the run keeps its identity when a pod is lost.',
  spec: runSpec,
  status: runStatus,
  columns: [
    { name: 'Session', type: 'string', jsonPath: '.spec.session.name' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Reason', type: 'string', jsonPath: '.status.reason' },
    { name: 'Job', type: 'string', jsonPath: '.status.incarnation.job' },
    { name: 'Started', type: 'date', jsonPath: '.status.startedAt' },
    { name: 'Duration', type: 'string', jsonPath: '.status.duration' },
  ],
  rules: [frozenSpec, statusStays],
})
export type Run = NonNullable<(typeof run)['example']>
