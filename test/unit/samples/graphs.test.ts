import { describe, expect, it } from 'vitest'
import type { AutomationGraph } from '../../../src/api/automation-graph.ts'
import { compile } from '../../../src/graph/compile.ts'
import { sampleObjects, samplePaths } from '../../kit/samples.ts'

const graphs = samplePaths()
  .flatMap(sampleObjects)
  .filter((object): object is AutomationGraph => object.kind === 'AutomationGraph')

describe('the graphs of the samples', () => {
  it.each(graphs.map((graph) => [graph.metadata.name, graph] as const))('%s compiles without a word', (_, graph) => {
    const { environment, serviceAccountName, nodes, edges } = graph.spec
    const result = compile({ environment, serviceAccountName, nodes, edges }, { now: new Date('2026-11-30T12:00:00Z') })
    expect(result).toMatchObject({ kind: 'compiled', warnings: [] })
  })

  it('name agents and an environment that come with them', () => {
    const objects = samplePaths().flatMap(sampleObjects)
    const known = new Set(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`))
    for (const { spec } of graphs) {
      const agents = spec.nodes.flatMap(({ agent }) => (agent === undefined ? [] : [`Agent ${agent}`]))
      const named = [...agents, `Environment ${spec.environment}`, `ServiceAccount ${spec.serviceAccountName}`]
      expect(named.filter((name) => !known.has(name))).toEqual([])
    }
  })
})
