import { type Adjacency, adjacency } from './topology.ts'

/** Answers whether every path from every entry to a node passes through another node. */
export interface Dominators {
  /** False for nodes that no entry reaches. A node dominates itself. */
  dominates(source: string, reader: string): boolean
}

/** Stands before all entries; no node has an empty id. */
const root = ''

/**
 * Immediate dominators by iteration to a fixed point in reverse postorder (Cooper, Harvey and Kennedy, "A Simple, Fast
 * Dominance Algorithm"). Several entries hang under one root, so a node under two of them is dominated by neither.
 */
export function dominatorsOf(entries: readonly string[], successors: Adjacency): Dominators {
  const graph = new Map(successors).set(root, entries)
  const order = reversePostorder(graph)
  const position = new Map(order.map((id, index) => [id, index]))
  const predecessors = adjacency(
    order,
    order.flatMap((from) => (graph.get(from) ?? []).map((to): [string, string] => [to, from])),
  )
  const immediate = new Map<string, string>([[root, root]])
  let changed = true
  while (changed) {
    changed = false
    for (const id of order) {
      if (id === root) continue
      const known = (predecessors.get(id) ?? []).filter((before) => immediate.has(before))
      const dominator = known.reduce((a, b) => meet(a, b, immediate, position))
      if (immediate.get(id) === dominator) continue
      immediate.set(id, dominator)
      changed = true
    }
  }
  return { dominates: (source, reader) => isAbove(source, reader, immediate) }
}

/** Nodes that the root reaches, each before its successors as far as cycles allow. */
function reversePostorder(graph: Adjacency): string[] {
  const postorder: string[] = []
  const seen = new Set([root])
  const stack: { id: string; next: number }[] = [{ id: root, next: 0 }]
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const child = (graph.get(top.id) ?? [])[top.next]
    top.next += 1
    if (child === undefined) {
      postorder.push(top.id)
      stack.pop()
    } else if (!seen.has(child)) {
      seen.add(child)
      stack.push({ id: child, next: 0 })
    }
  }
  return postorder.reverse()
}

/** The nearest node above both. */
function meet(
  a: string,
  b: string,
  immediate: ReadonlyMap<string, string>,
  position: ReadonlyMap<string, number>,
): string {
  let left = a
  let right = b
  while (left !== right) {
    if (at(position, left) > at(position, right)) left = immediate.get(left) ?? root
    else right = immediate.get(right) ?? root
  }
  return left
}

function at(position: ReadonlyMap<string, number>, id: string): number {
  return position.get(id) ?? 0
}

function isAbove(source: string, reader: string, immediate: ReadonlyMap<string, string>): boolean {
  let id = reader
  while (immediate.has(id)) {
    if (id === source) return true
    if (id === root) return false
    id = immediate.get(id) ?? root
  }
  return false
}
