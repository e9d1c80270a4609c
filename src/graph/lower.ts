import type { AgentTarget } from '../api/automation.ts'
import type { GraphNode } from '../api/graph-document.ts'
import type { Program, ProgramStep } from '../api/program.ts'
import { compareText } from '../lib/text.ts'
import type { CompiledTarget } from './compiled.ts'
import { type Draft, edgesTo, nodesOf } from './draft.ts'
import { controlSuccessors, topologicalOrder } from './topology.ts'

/** The target of a document without errors. */
export function lowerTarget(draft: Draft): CompiledTarget {
  const [agent] = nodesOf(draft, 'agent')
  if (agent !== undefined) return { kind: 'agent', agent: lowerAgent(agent) }
  return { kind: 'program', program: lowerProgram(draft) }
}

/** Names of the referenced Agents, each once, sorted. */
export function referencedAgents(draft: Draft): string[] {
  const names = nodesOf(draft, 'agent', 'step_agent').flatMap(({ agent }) => (agent === undefined ? [] : [agent]))
  return [...new Set(names)].sort()
}

function lowerAgent(node: GraphNode): AgentTarget {
  const target: AgentTarget = { name: node.agent ?? '' }
  if (node.prompt !== undefined) target.prompt = node.prompt
  if (node.includeEvent !== undefined) target.includeEvent = node.includeEvent
  if (node.timeoutSeconds !== undefined) target.timeoutSeconds = node.timeoutSeconds
  return target
}

function lowerProgram(draft: Draft): Program {
  const order = topologicalOrder([...draft.nodes.keys()], controlSuccessors(draft)) ?? []
  const nodes = order.flatMap((id) => draft.nodes.get(id)?.node ?? [])
  return {
    entries: nodes.flatMap(({ id, trigger }) => (trigger === undefined ? [] : [{ id, kind: trigger.kind }])),
    steps: nodes.filter(({ kind }) => kind !== 'trigger').map((node) => lowerStep(node, draft)),
  }
}

function lowerStep(node: GraphNode, draft: Draft): ProgramStep {
  const step: ProgramStep = { id: node.id, kind: stepKind(node), after: predecessors(node.id, draft) }
  if (node.name !== undefined) step.name = node.name
  const bindings = Object.entries(node.inputBindings ?? {})
  if (bindings.length > 0) {
    step.bindings = Object.fromEntries(
      bindings.map(([name, { sourceNodeId: source, pointer }]) => [name, { source, pointer }]),
    )
  }
  const [output] = edgesTo(draft, node.id, 'output')
  const readsBindings = node.kind !== 'step_agent' && bindings.length > 0
  if (output !== undefined && !readsBindings) step.output = output.from
  if (node.kind === 'step_agent') lowerAgentStep(step, node)
  if (node.kind === 'step_parse_json' && node.outputSchema !== undefined) step.schema = node.outputSchema
  if (node.kind === 'decision') step.predicates = node.condition?.predicates ?? []
  return step
}

function stepKind(node: GraphNode): ProgramStep['kind'] {
  if (node.kind === 'step_parse_json') return 'parse_json'
  return node.kind === 'decision' ? 'decision' : 'agent'
}

/** With an output edge the prior output is the whole message, so prompt and event are not part of the program. */
function lowerAgentStep(step: ProgramStep, node: GraphNode): void {
  if (node.agent !== undefined) step.agent = node.agent
  if (node.timeoutSeconds !== undefined) step.timeoutSeconds = node.timeoutSeconds
  if (step.output !== undefined) return
  if (node.prompt !== undefined) step.prompt = node.prompt
  if (node.includeEvent !== undefined) step.includeEvent = node.includeEvent
}

/** What must be settled before a step, in an order that does not depend on the document's. */
function predecessors(id: string, draft: Draft): ProgramStep['after'] {
  return edgesTo(draft, id, 'starts', 'then', 'continue', 'otherwise')
    .map(({ kind, from }) => (kind === 'continue' || kind === 'otherwise' ? { id: from, arm: kind } : { id: from }))
    .sort((a, b) => compareText(sortKey(a), sortKey(b)))
}

function sortKey({ id, arm }: ProgramStep['after'][number]): string {
  return `${id} ${arm ?? ''}`
}
