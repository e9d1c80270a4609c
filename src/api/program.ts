import { z } from 'zod'
import { anyJson, anyObject, digestField, objectName, uidField } from './fields.ts'
import { triggerKinds } from './graph-document.ts'

/**
 * A compiled graph: what a firing runs. Readers of a program check {@link formatVersion} first; a manager runs the
 * current and the previous one.
 */
export const formatVersion = 1

/** A published Agent version that a program is bound to. */
export const pin = z.strictObject({
  agent: objectName('Name of the Agent.'),
  version: objectName('Name of the AgentVersion.'),
  digest: digestField('Digest of the version.'),
  uid: uidField('UID of the AgentVersion.'),
})
export type Pin = z.infer<typeof pin>

const predecessor = z.strictObject({
  id: z.string().max(63).describe('Id of a trigger or step that must be settled first.'),
  arm: z
    .enum(['continue', 'otherwise'])
    .optional()
    .describe('Arm of a decision that leads here; absent for triggers and plain steps.'),
})
export type Predecessor = z.infer<typeof predecessor>

const programBinding = z.strictObject({
  source: z.string().max(63).describe('Id of the step or trigger whose value is read.'),
  pointer: z.string().max(1024).describe('RFC 6901 pointer into the value; empty selects the whole value.'),
})
export type ProgramBinding = z.infer<typeof programBinding>

const step = z.strictObject({
  id: z.string().max(63).describe('Id of the node.'),
  kind: z.enum(['agent', 'parse_json', 'decision']).describe('What the step does.'),
  name: z.string().max(256).optional().describe('Title for people.'),
  after: z
    .array(predecessor)
    .max(100)
    .describe('Control predecessors: the step runs once all are settled and any was taken.'),
  bindings: z.record(z.string(), programBinding).optional().describe('Values of other nodes, by input name.'),
  output: z
    .string()
    .max(63)
    .optional()
    .describe('Step whose whole output is the subject, content or message of this one.'),
  agent: objectName('agent: name of the Agent; its version is pinned beside the program.').optional(),
  prompt: z.string().max(65536).optional().describe('agent: template of the message.'),
  includeEvent: z.boolean().optional().describe('agent: append the event where the prompt references none of it.'),
  timeoutSeconds: z.int().min(1).optional().describe('agent: seconds after which the step fails.'),
  schema: anyObject('parse_json: JSON Schema that the parsed value must satisfy.').optional(),
  predicates: z
    .array(anyJson('A predicate as authored.'))
    .max(32)
    .optional()
    .describe('decision: all of them must hold.'),
})
export type ProgramStep = z.infer<typeof step>

export const program = z.strictObject({
  entries: z
    .array(
      z.strictObject({
        id: z.string().max(63).describe('Id of the trigger node.'),
        kind: z.enum(triggerKinds).describe('Kind of the trigger.'),
      }),
    )
    .max(3)
    .describe('Triggers that may start the program.'),
  steps: z.array(step).max(100).describe('Steps in an order in which each comes after its predecessors.'),
})
export type Program = z.infer<typeof program>
