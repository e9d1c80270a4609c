import { z } from 'zod'
import { environmentSpec } from './environment.ts'
import { conditions, content, digestField, messageField, objectName, observedGeneration, uidField } from './fields.ts'
import { ageColumn, defineKind, frozenSpec } from './kind.ts'
import { firingReference } from './references.ts'

export const sessionSpec = z.strictObject({
  firing: firingReference.describe('The firing it works for.'),
  step: z.string().max(63).describe('Id of the step it works for.'),
  item: z.int().min(0).default(0).describe('Number of the item, starting at 0.'),
  attempt: z.int().min(0).default(0).describe('Number of the attempt, starting at 0.'),
  agentVersion: z
    .strictObject({
      name: objectName('Name of the AgentVersion.'),
      uid: uidField('Its UID.'),
      digest: digestField('Its digest.'),
    })
    .describe('The exact version that works.'),
  environment: z
    .strictObject({
      name: objectName('Name of the Environment.'),
      spec: environmentSpec.describe('Its spec at admission.'),
    })
    .describe('Where it works.'),
  serviceAccountName: objectName('ServiceAccount the session acts as.'),
  input: z
    .strictObject({
      prompt: content.describe('The rendered message.'),
      bindings: z
        .record(z.string().max(63), content)
        .optional()
        .meta({ description: 'Bound values as JSON texts, by input name.', maxProperties: 32 }),
    })
    .describe('The first input. The event is read from the firing.'),
  timeoutSeconds: z.int().min(1).max(86400).optional().describe('Seconds after which the work fails.'),
})
export type SessionSpec = z.infer<typeof sessionSpec>

export const workPhases = [
  'Pending',
  'Running',
  'Waiting',
  'Succeeded',
  'Failed',
  'Cancelled',
  'Indeterminate',
] as const
export type WorkPhase = (typeof workPhases)[number]

export const sessionStatus = z.strictObject({
  observedGeneration,
  phase: z.enum(workPhases).optional().describe('Where the session stands.'),
  reason: z.string().max(128).optional().describe('Why, in CamelCase.'),
  message: messageField('Why in words, and what to do next.').optional(),
  runs: z.int().min(0).optional().describe('Runs made so far.'),
  tokens: z.int().min(0).optional().describe('Tokens used by models.'),
  costMicrousd: z.int().min(0).optional().describe('Cost in millionths of a US dollar.'),
  output: content.optional().describe('What the last run produced.'),
  conditions,
})
export type SessionStatus = z.infer<typeof sessionStatus>

export const session = defineKind({
  kind: 'Session',
  plural: 'sessions',
  shortNames: [],
  description: 'The work of one agent for one step: the interaction and its history. Made by the operator.',
  spec: sessionSpec,
  status: sessionStatus,
  columns: [
    { name: 'Agent', type: 'string', jsonPath: '.spec.agentVersion.name' },
    { name: 'Step', type: 'string', jsonPath: '.spec.step', priority: 1 },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Reason', type: 'string', jsonPath: '.status.reason' },
    { name: 'Runs', type: 'integer', jsonPath: '.status.runs' },
    { name: 'Tokens', type: 'integer', jsonPath: '.status.tokens' },
    { name: 'Cost', type: 'integer', jsonPath: '.status.costMicrousd' },
    ageColumn,
  ],
  rules: [frozenSpec],
})
export type Session = NonNullable<(typeof session)['example']>
