import type { EdgeKind, GraphEdge, NodeKind } from '../api/graph-document.ts'
import { type Draft, edgesFrom, edgesTo, nodesOf, runnableEdgeKinds, runnableKinds } from './draft.ts'
import { edgeText, type Findings } from './findings.ts'

interface EndpointRule {
  readonly from: readonly NodeKind[]
  readonly to: readonly NodeKind[]
  readonly advice: string
}

const steps: readonly NodeKind[] = ['step_agent', 'step_parse_json', 'decision']
const withOutput: readonly NodeKind[] = ['step_agent', 'step_parse_json']

/** Between which kinds of nodes an edge of each kind may stand. */
const endpoints: Partial<Record<EdgeKind, EndpointRule>> = {
  starts: { from: ['trigger'], to: ['agent', ...steps], advice: 'leads from a trigger to an agent or a step' },
  // biome-ignore lint/suspicious/noThenProperty: `then` is a word of the graph language, and nobody awaits this table
  then: { from: withOutput, to: steps, advice: 'leads from a step to a step; a decision leads on by its arms' },
  output: { from: withOutput, to: steps, advice: 'leads from a step that has an output to a step' },
  continue: { from: ['decision'], to: steps, advice: 'is the arm of a decision and leads to a step' },
  otherwise: { from: ['decision'], to: steps, advice: 'is the arm of a decision and leads to a step' },
  uncertain: { from: ['decision'], to: steps, advice: 'is the arm of a decision and leads to a step' },
  error: { from: ['decision'], to: steps, advice: 'is the arm of a decision and leads to a step' },
}

const arms: readonly EdgeKind[] = ['continue', 'otherwise', 'uncertain', 'error']

/** Checks each edge by itself, then what a node needs of its edges. */
export function checkEdges(draft: Draft, findings: Findings): void {
  const seen = new Set<string>()
  for (const edge of draft.edges) {
    const text = edgeText(edge)
    if (seen.has(text)) findings.error('edge_duplicate', `the edge ${text} stands there twice: remove one`, { edge })
    else checkEdge(edge, draft, findings)
    seen.add(text)
  }
  checkMixture(draft, findings)
  for (const { id } of nodesOf(draft, 'decision')) checkArms(id, draft, findings)
  for (const { id } of nodesOf(draft, ...steps)) checkMerge(id, draft, findings)
}

function checkEdge(edge: GraphEdge, draft: Draft, findings: Findings): void {
  const rule = endpoints[edge.kind]
  if (rule === undefined) {
    findings.error(
      'document_invalid',
      `node ${edge.from} has an edge of kind ${edge.kind}, which this release does not run; it runs ${runnableEdgeKinds.join(', ')}`,
      { edge, node: edge.from },
    )
    return
  }
  if (edge.to === undefined && !arms.includes(edge.kind)) {
    findings.error('document_invalid', `an edge of kind ${edge.kind} needs a target: add to`, { edge })
  }
  const wrong = [
    ...wrongEnd('leaves', edge.from, rule.from, draft),
    ...(edge.to === undefined ? [] : wrongEnd('enters', edge.to, rule.to, draft)),
  ]
  if (wrong.length === 0) return
  findings.error('edge_endpoint_kind', `${wrong.join(' and ')}; ${edge.kind} ${rule.advice}`, { edge })
}

/** What is wrong with an end of an edge, unless its node was refused already. */
function wrongEnd(verb: string, id: string, allowed: readonly NodeKind[], draft: Draft): string[] {
  const kind = draft.nodes.get(id)?.kind
  if (kind === undefined || !runnableKinds.has(kind) || allowed.includes(kind)) return []
  return [`it ${verb} ${id} of kind ${kind}`]
}

/** One agent behind its triggers, or steps: the two do not mix, and nothing at all is neither. */
function checkMixture(draft: Draft, findings: Findings): void {
  const kinds = [...draft.nodes.values()].map(({ kind }) => kind)
  const hasSteps = kinds.some((kind) => kind === 'decision' || kind?.startsWith('step_') === true)
  const agents = nodesOf(draft, 'agent')
  if (kinds.every((kind) => kind === 'trigger')) {
    findings.error('document_invalid', 'the graph has nothing to run: add a node of kind agent or steps')
  }
  for (const [index, { id: node }] of agents.entries()) {
    if (hasSteps) {
      findings.error(
        'edge_endpoint_kind',
        `node ${node} of kind agent stands among steps: make it a step_agent, or keep it alone behind the triggers`,
        { node },
      )
    } else if (index > 0) {
      findings.error(
        'document_invalid',
        `node ${node} is a second agent; this release runs one agent behind the triggers: make both step_agent and join them by then`,
        { node },
      )
    }
  }
}

/** Both arms are authored, and none that a decision by predicates never takes. */
function checkArms(node: string, draft: Draft, findings: Findings): void {
  for (const kind of ['continue', 'otherwise'] as const) {
    const arm = edgesFrom(draft, node, kind)
    if (arm.length === 0) {
      findings.error(
        'decision_arm_missing',
        `decision ${node} has no arm ${kind}: add an edge of that kind, without to where the path finishes`,
        { node },
      )
    }
    if (arm.length > 1 && arm.some((edge) => edge.to === undefined)) {
      findings.error(
        'decision_arm_unexpected',
        `the arm ${kind} of ${node} both finishes and leads on: remove the edge without to, or the others`,
        { node },
      )
    }
  }
  if (draft.nodes.get(node)?.node?.condition?.kind !== 'predicates') return
  for (const edge of edgesFrom(draft, node, 'uncertain', 'error')) {
    findings.error(
      'decision_arm_unexpected',
      `decision ${node} compares values and is never in the state ${edge.kind}: remove the edge`,
      { node, edge },
    )
  }
}

/** A step reads the whole output of one step at most. */
function checkMerge(node: string, draft: Draft, findings: Findings): void {
  const sources = new Set(edgesTo(draft, node, 'output').map(({ from }) => from))
  const content = draft.nodes.get(node)?.node?.inputBindings?.content
  if (draft.nodes.get(node)?.kind === 'step_parse_json' && content !== undefined && sources.size > 0) {
    sources.add(content.sourceNodeId)
  }
  if (sources.size < 2) return
  findings.error(
    'merge_ambiguous',
    `${node} would read the whole output of ${[...sources].join(' and ')}: keep one, and read the others by inputBindings`,
    { node },
  )
}
