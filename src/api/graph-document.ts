import { z } from 'zod'
import { policyFields } from './automation-policies.ts'
import { anyJson, anyObject, objectName } from './fields.ts'

/**
 * The graph language: what an AutomationGraph says. The schema knows every node and edge kind and checks types, sizes
 * and unknown fields; what needs two nodes, a parser or a clock is an error of the compiler, so that all errors come at
 * once. Fields are flat and optional for the same reason. Null never carries meaning.
 */

/** Every node kind of the language. The compiler refuses by name those that this release does not run. */
export const nodeKinds = [
  'trigger',
  'agent',
  'step_agent',
  'step_parse_json',
  'decision',
  'step_check',
  'step_action',
  'step_managed_tool',
  'step_approval',
  'step_wait',
  'step_join',
  'step_memory_read',
  'step_memory_write',
  'step_select_history',
  'step_record_history',
  'step_skill_proposal',
  'step_observe_skill_proposal',
  'outcome',
  'flow_review',
  'output',
] as const
export type NodeKind = (typeof nodeKinds)[number]

/** Every edge kind of the language. */
export const edgeKinds = [
  'starts',
  'then',
  'output',
  'continue',
  'otherwise',
  'uncertain',
  'error',
  'reviews',
  'hands_to',
  'delivers',
] as const
export type EdgeKind = (typeof edgeKinds)[number]

/** Every kind of a trigger node's `trigger` (A-194 to A-197, and manual). */
export const triggerKinds = ['schedule', 'schedule_once', 'webhook', 'subscription', 'manual'] as const
export type TriggerKind = (typeof triggerKinds)[number]

const nodeId = z.string().min(1).max(63)

const trigger = z.strictObject({
  kind: z.enum(triggerKinds).describe('What starts a firing.'),
  cron: z
    .string()
    .max(256)
    .optional()
    .describe('schedule: five fields (minute hour day-of-month month day-of-week) or a macro such as @daily.'),
  timezone: z.string().max(64).optional().describe('schedule: IANA time zone, for example Europe/Berlin.'),
  at: z.string().max(64).optional().describe('schedule_once: date and time with an explicit offset, RFC 3339.'),
  secretRef: anyObject('webhook: Secret that holds the signing secret.').optional(),
  dedupeKey: anyJson('webhook: where the deduplication key is read from.').optional(),
  event: anyJson('subscription: the event type to admit.').optional(),
  filter: anyJson('webhook, subscription: predicates an event must satisfy.').optional(),
  condition: z.string().max(4096).optional().describe('subscription: a condition in natural language.'),
})
export type TriggerConfiguration = z.infer<typeof trigger>

const binding = z.strictObject({
  sourceNodeId: nodeId.describe('Node whose value is read; a trigger stands for the event.'),
  pointer: z.string().max(1024).default('').describe('RFC 6901 pointer into the value; empty selects the whole value.'),
})
export type Binding = z.infer<typeof binding>

function bindings(description: string) {
  return z.record(z.string().max(63), binding).meta({ description, maxProperties: 32 })
}

const leafPredicate = {
  kind: z
    .enum(['equals', 'contains', 'all', 'any', 'not'])
    .describe('equals and contains compare a value; all, any and not group predicates.'),
  pointer: z.string().max(1024).optional().describe('equals, contains: RFC 6901 pointer into the subject.'),
  value: anyJson('equals: a text, boolean or finite number, compared without conversion. contains: a text.').optional(),
}
const innerPredicate = z.strictObject(leafPredicate)
const middlePredicate = z.strictObject({
  ...leafPredicate,
  predicates: z.array(innerPredicate).max(32).optional().describe('all, any: the predicates of the group.'),
  predicate: innerPredicate.optional().describe('not: the predicate that must not hold.'),
})
const predicate = z.strictObject({
  ...leafPredicate,
  predicates: z.array(middlePredicate).max(32).optional().describe('all, any: the predicates of the group.'),
  predicate: middlePredicate.optional().describe('not: the predicate that must not hold.'),
})

/** A predicate as authored; groups nest two levels deep. */
export interface Predicate {
  kind: 'equals' | 'contains' | 'all' | 'any' | 'not'
  pointer?: string | undefined
  value?: unknown
  predicates?: Predicate[] | undefined
  predicate?: Predicate | undefined
}

const condition = z.strictObject({
  kind: z.enum(['predicates', 'criteria', 'check', 'reuse']).describe('How the decision is made.'),
  predicates: z.array(predicate).max(32).optional().describe('predicates: all of them must hold.'),
  criteria: anyJson('criteria: typed evaluation questions.').optional(),
  check: anyJson('check: a boolean check.').optional(),
  sourceNodeId: nodeId.optional().describe('reuse: the node whose evaluation is read.'),
  rule: anyJson('criteria, reuse: the rule over the answers.').optional(),
  model: anyJson('criteria, check: the model profile that evaluates.').optional(),
  failure: z.string().max(64).optional().describe('criteria, check: must be fail_closed.'),
})

const node = z.strictObject({
  id: nodeId.describe('Unique name of the node in the document: a DNS label.'),
  kind: z.enum(nodeKinds).describe('What the node is.'),
  name: z.string().max(256).optional().describe('Title for people.'),
  description: z.string().max(1024).optional().describe('What the node is for.'),
  trigger: trigger.optional().describe('trigger: what starts a firing.'),
  agent: objectName('agent, step_agent: name of the Agent.').optional(),
  prompt: z
    .string()
    .max(65536)
    .optional()
    .describe('agent, step_agent: the message. {{event}} and {{event.path}} are replaced by the event.'),
  includeEvent: z
    .boolean()
    .optional()
    .describe('agent, step_agent: append the event where the prompt references none of it.'),
  timeoutSeconds: z.int().min(1).max(86400).optional().describe('Acting nodes: seconds after which the step fails.'),
  inputBindings: bindings('Values of other nodes, by input name.').optional(),
  argumentBindings: bindings('step_action, step_managed_tool: values of other nodes, by argument.').optional(),
  bindings: bindings('step_approval: values shown to the approver.').optional(),
  outputSchema: anyObject('step_parse_json: JSON Schema that the parsed value must satisfy.').optional(),
  condition: condition.optional().describe('decision: how it is decided.'),
  budget: anyObject('agent, step_agent: limit of each child Session.').optional(),
  retries: anyObject('Acting nodes: authored retry policy.').optional(),
  sessionTarget: anyObject('step_agent: the Session to continue.').optional(),
  deliveryScreen: anyObject('agent, output: screening of outbound messages.').optional(),
  forEach: anyObject('step_agent: one child for each item of a list.').optional(),
  criteria: anyJson('step_check, outcome, flow_review: typed criteria.').optional(),
  model: anyJson('step_check: the model profile that evaluates.').optional(),
  connection: objectName('step_action: name of the Connection.').optional(),
  tool: z.string().max(256).optional().describe('step_action: name of the tool.'),
  arguments: anyObject('step_action, step_managed_tool: literal arguments.').optional(),
  selection: anyObject('step_managed_tool: exact tool and release.').optional(),
  maximumChargeMicrousd: z
    .int()
    .min(0)
    .optional()
    .describe('step_managed_tool: highest charge in millionths of a US dollar.'),
  summary: z.string().max(4096).optional().describe('step_approval: what the approver is asked.'),
  expiresAfter: z.string().max(32).optional().describe('step_approval: how long the question stands.'),
  duration: z.string().max(32).optional().describe('step_wait: how long to wait.'),
  until: binding.optional().describe('step_wait: where the time to wait for is read.'),
  mode: z.enum(['control', 'all_completed']).optional().describe('step_join: whether outputs are gathered.'),
  sources: z.array(nodeId).max(32).optional().describe('step_join: the nodes that are joined.'),
  store: objectName('step_memory_read, step_memory_write: name of the MemoryStore.').optional(),
  path: z.string().max(1024).optional().describe('step_memory_read, step_memory_write: path of the document.'),
  content: binding.optional().describe('step_memory_write: where the content is read.'),
  precondition: anyObject('step_memory_write: mustNotExist or the digest last read.').optional(),
  query: anyJson('step_select_history, step_record_history: what is selected.').optional(),
  requires: anyJson('step_record_history: effects that must have settled.').optional(),
  skill: anyJson('step_skill_proposal: the skill proposed to.').optional(),
  source: binding.optional().describe('step_skill_proposal: where the proposal is read.'),
  sourceNodeId: nodeId.optional().describe('step_observe_skill_proposal: the proposing step.'),
  rubric: z.string().max(16384).optional().describe('outcome: definition of done.'),
  failure: z.string().max(64).optional().describe('outcome: must be fail_closed with typed criteria.'),
  maxIterations: z.int().min(1).max(20).optional().describe('outcome: revisions at most.'),
  report: anyObject('outcome: declared report.').optional(),
})
export type GraphNode = z.infer<typeof node>

const edge = z.strictObject({
  kind: z.enum(edgeKinds).describe('What the edge means.'),
  from: nodeId.describe('Node the edge leaves.'),
  to: nodeId.optional().describe('Node the edge enters. An arm of a decision without it finishes the path.'),
})
export type GraphEdge = z.infer<typeof edge>

/** Members of the document, for the spec of an AutomationGraph. */
export const documentFields = {
  environment: objectName('Environment in which every step runs.'),
  serviceAccountName: objectName('ServiceAccount the automation acts as. Naming it needs the verb use on it.'),
  nodes: z
    .array(node)
    .min(1)
    .max(1000)
    .meta({ description: 'Triggers and steps, at most 100.', 'x-kubernetes-list-type': 'atomic' }),
  edges: z
    .array(edge)
    .max(3000)
    .default([])
    .meta({ description: 'What leads to what, at most 300.', 'x-kubernetes-list-type': 'atomic' }),
  ...policyFields,
}

/** A graph document: secret-free, bounded, acyclic. */
export const graphDocument = z.strictObject(documentFields)
export type GraphDocument = z.infer<typeof graphDocument>
