import type { EdgeKind, GraphDocument, GraphEdge, GraphNode, NodeKind } from '../api/graph-document.ts'

/** Node kinds that this release runs. The others are refused by name. */
export const runnableKinds: ReadonlySet<NodeKind> = new Set<NodeKind>([
  'trigger',
  'agent',
  'step_agent',
  'step_parse_json',
  'decision',
])

/** Edge kinds that this release runs. */
export const runnableEdgeKinds: readonly EdgeKind[] = ['starts', 'then', 'output', 'continue', 'otherwise']

/**
 * A node on its way through the compiler. One whose shape is wrong, or whose kind this release does not run, keeps its
 * place in the topology, so that its one error does not cause others.
 */
export interface DraftNode {
  readonly id: string
  /** Absent where the document names no kind of the language. */
  readonly kind?: NodeKind | undefined
  /** Present where the shape is right and the kind is run. */
  readonly node?: GraphNode | undefined
}

/** An edge both of whose ends are nodes of the document. */
export interface DraftEdge extends GraphEdge {
  readonly to: string
}

/** A document whose parts have the right shape; what is wrong was reported. */
export interface Draft {
  /** Normalised; complete only if nothing was reported. */
  readonly document: GraphDocument
  /** Every node by id, in the order of the document. */
  readonly nodes: ReadonlyMap<string, DraftNode>
  /** Every edge whose ends are known, arms that finish included. */
  readonly edges: readonly GraphEdge[]
}

/** The nodes of one kind that are checked and run. */
export function nodesOf(draft: Draft, ...kinds: readonly NodeKind[]): GraphNode[] {
  return [...draft.nodes.values()].flatMap(({ node }) =>
    node !== undefined && kinds.includes(node.kind) ? [node] : [],
  )
}

/** The edges of some kinds that lead from or to a node. */
export function edgesFrom(draft: Draft, id: string, ...kinds: readonly GraphEdge['kind'][]): GraphEdge[] {
  return draft.edges.filter((edge) => edge.from === id && kinds.includes(edge.kind))
}

export function edgesTo(draft: Draft, id: string, ...kinds: readonly GraphEdge['kind'][]): GraphEdge[] {
  return draft.edges.filter((edge) => edge.to === id && kinds.includes(edge.kind))
}

/** True for edges that say what runs after what; `output` hands over data and gives no control. */
export function isControl(edge: GraphEdge): edge is DraftEdge {
  return edge.to !== undefined && edge.kind !== 'output'
}
