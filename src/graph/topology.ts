import { type Draft, isControl } from './draft.ts'
import type { Findings } from './findings.ts'

/** Neighbours of each node. */
export type Adjacency = ReadonlyMap<string, readonly string[]>

/** Who runs after whom. */
export function controlSuccessors(draft: Draft): Adjacency {
  return adjacency(
    [...draft.nodes.keys()],
    draft.edges.filter(isControl).map(({ from, to }) => [from, to]),
  )
}

/** Ids of the nodes that start firings. */
export function entriesOf(draft: Draft): string[] {
  return [...draft.nodes.values()].filter(({ kind }) => kind === 'trigger').map(({ id }) => id)
}

/** Lists of neighbours, each neighbour once. */
export function adjacency(nodes: readonly string[], pairs: readonly (readonly [string, string])[]): Adjacency {
  const lists = new Map<string, Set<string>>(nodes.map((id) => [id, new Set()]))
  for (const [from, to] of pairs) lists.get(from)?.add(to)
  return new Map([...lists].map(([id, set]) => [id, [...set]]))
}

/** Every node that a path from one of the starts reaches, the starts included. */
export function reachable(starts: readonly string[], successors: Adjacency): Set<string> {
  const reached = new Set(starts)
  for (const id of reached) {
    for (const next of successors.get(id) ?? []) reached.add(next)
  }
  return reached
}

/** A shortest path from one of the starts to a node that avoids another node, if there is one. */
export function pathAvoiding(
  starts: readonly string[],
  successors: Adjacency,
  target: string,
  avoided: string,
): string[] | undefined {
  const cameFrom = new Map<string, string | undefined>()
  for (const start of starts) if (start !== avoided) cameFrom.set(start, undefined)
  for (const [id] of cameFrom) {
    if (id === target) return backTo(id, cameFrom)
    for (const next of successors.get(id) ?? []) {
      if (next !== avoided && !cameFrom.has(next)) cameFrom.set(next, id)
    }
  }
  return undefined
}

function backTo(id: string, cameFrom: ReadonlyMap<string, string | undefined>): string[] {
  const path: string[] = []
  for (let at: string | undefined = id; at !== undefined; at = cameFrom.get(at)) path.unshift(at)
  return path
}

/**
 * An order in which each node comes after everything that leads to it, and among the free ones by id, so that the order
 * of the document does not count. Undefined where there is a cycle.
 */
export function topologicalOrder(nodes: readonly string[], successors: Adjacency): string[] | undefined {
  const waiting = new Map(nodes.map((id) => [id, 0]))
  for (const id of nodes) {
    for (const next of successors.get(id) ?? []) waiting.set(next, (waiting.get(next) ?? 0) + 1)
  }
  const order: string[] = []
  const free = nodes.filter((id) => waiting.get(id) === 0)
  while (free.length > 0) {
    free.sort()
    const id = free.shift() as string
    order.push(id)
    for (const next of successors.get(id) ?? []) {
      const left = (waiting.get(next) ?? 0) - 1
      waiting.set(next, left)
      if (left === 0) free.push(next)
    }
  }
  return order.length === nodes.length ? order : undefined
}

/**
 * Reports cycles, over whatever kinds of edges, and nodes that nothing leads to: the first of a path, not
 * each node behind it.
 */
export function checkTopology(draft: Draft, findings: Findings): void {
  const nodes = [...draft.nodes.keys()]
  const pairs = draft.edges.flatMap(({ from, to }): [string, string][] => (to === undefined ? [] : [[from, to]]))
  for (const cycle of cycles(nodes, adjacency(nodes, pairs))) {
    findings.error(
      'graph_cycle',
      `the path ${cycle.join(' -> ')} leads back to itself: remove one of its edges; write repetitions out as steps`,
      { node: cycle[0] },
    )
  }
  const entries = entriesOf(draft)
  if (entries.length === 0) return
  const successors = controlSuccessors(draft)
  const reached = reachable(entries, successors)
  const unreached = nodes.filter((node) => !reached.has(node))
  const behind = new Set(unreached.flatMap((node) => successors.get(node) ?? []))
  for (const node of unreached) {
    if (behind.has(node)) continue
    findings.error(
      'node_unreachable',
      `no path from a trigger leads to ${node}: lead one there by starts, then or an arm, or remove the node`,
      { node },
    )
  }
}

/** One cycle for each knot of nodes that lead to each other. */
function cycles(nodes: readonly string[], successors: Adjacency): string[][] {
  const found: string[][] = []
  const covered = new Set<string>()
  for (const id of nodes) {
    if (covered.has(id)) continue
    const next = successors.get(id) ?? []
    const path = pathAvoiding(next, successors, id, '')
    if (path === undefined) continue
    found.push([id, ...path])
    for (const other of knot(id, nodes, successors)) covered.add(other)
  }
  return found
}

/** The nodes that a node leads to and that lead back to it. */
function knot(id: string, nodes: readonly string[], successors: Adjacency): string[] {
  const ahead = reachable([id], successors)
  const reversed = adjacency(
    nodes,
    [...successors].flatMap(([from, list]) => list.map((to): [string, string] => [to, from])),
  )
  return [...reachable([id], reversed)].filter((other) => ahead.has(other))
}
