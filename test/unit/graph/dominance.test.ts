import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dominatorsOf } from '../../../src/graph/dominance.ts'
import { type Adjacency, adjacency, pathAvoiding, reachable, topologicalOrder } from '../../../src/graph/topology.ts'

const size = 8
const ids = Array.from({ length: size }, (_, index) => `n${index}`)

/** Any graph of eight nodes, cycles and loops included, with one to three entries. */
const anyGraph = fc.record({
  entries: fc.uniqueArray(fc.constantFrom(...ids), { minLength: 1, maxLength: 3 }),
  pairs: fc.array(fc.tuple(fc.constantFrom(...ids), fc.constantFrom(...ids)), { maxLength: 20 }),
})

/** Every simple path from an entry to the node, by brute force: the definition that the algorithm must agree with. */
function simplePaths(entries: readonly string[], successors: Adjacency, target: string): string[][] {
  const found: string[][] = []
  function walk(path: string[]): void {
    const last = path.at(-1) ?? ''
    if (last === target) found.push(path)
    for (const next of successors.get(last) ?? []) if (!path.includes(next)) walk([...path, next])
  }
  for (const entry of entries) walk([entry])
  return found
}

describe('dominators', () => {
  it('agree with the enumeration of all paths, whatever the graph', () => {
    fc.assert(
      fc.property(anyGraph, ({ entries, pairs }) => {
        const successors = adjacency(ids, pairs)
        const dominators = dominatorsOf(entries, successors)
        for (const reader of ids) {
          const paths = simplePaths(entries, successors, reader)
          for (const source of ids) {
            const always = paths.length > 0 && paths.every((path) => path.includes(source))
            expect(dominators.dominates(source, reader)).toBe(always)
          }
        }
      }),
      { numRuns: 300 },
    )
  })

  it('a path that avoids the source exists exactly where the source does not dominate, and is one', () => {
    fc.assert(
      fc.property(anyGraph, fc.constantFrom(...ids), fc.constantFrom(...ids), ({ entries, pairs }, source, reader) => {
        const successors = adjacency(ids, pairs)
        const isReached = reachable(entries, successors).has(reader)
        const path = pathAvoiding(entries, successors, reader, source)
        expect(path !== undefined).toBe(isReached && !dominatorsOf(entries, successors).dominates(source, reader))
        if (path === undefined) return
        expect(entries).toContain(path[0])
        expect(path.at(-1)).toBe(reader)
        expect(path).not.toContain(source)
        for (const [index, id] of path.slice(1).entries()) expect(successors.get(path[index] ?? '')).toContain(id)
      }),
    )
  })

  it('a node under two entries is dominated by neither', () => {
    const successors = adjacency(
      ['a', 'b', 'c'],
      [
        ['a', 'c'],
        ['b', 'c'],
      ],
    )
    const dominators = dominatorsOf(['a', 'b'], successors)
    expect(['a', 'b', 'c'].filter((id) => dominators.dominates(id, 'c'))).toEqual(['c'])
  })
})

describe('topologicalOrder', () => {
  it('puts each node after what leads to it, does not depend on the order of the input, and knows cycles', () => {
    fc.assert(
      fc.property(anyGraph, ({ pairs }) => {
        const successors = adjacency(ids, pairs)
        const order = topologicalOrder(ids, successors)
        const hasCycle = ids.some((id) => reachable(successors.get(id) ?? [], successors).has(id))
        expect(order === undefined).toBe(hasCycle)
        for (const [from, to] of order === undefined ? [] : pairs) {
          expect((order ?? []).indexOf(from)).toBeLessThan((order ?? []).indexOf(to))
        }
        expect(topologicalOrder(ids.toReversed(), adjacency(ids.toReversed(), pairs.toReversed()))).toEqual(order)
      }),
    )
  })
})
