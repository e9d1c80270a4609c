import { automationFiring } from '../../src/api/automation-firing.ts'
import { configMapType } from '../../src/kube/core-types.ts'
import { decision, edge, manual, parseStep } from '../kit/graph-documents.ts'
import { type Figure, medianBelow } from './figure.ts'
import { alternate } from './statistics.ts'
import { graphOf, type Workbench } from './workbench.ts'

const steps = 20

/**
 * From the request that creates a firing of twenty steps that need no pod until it has succeeded. Peer: twenty writes to
 * one object, each made when the watch has shown the one before: what it costs at the least to record every step by
 * itself.
 */
export async function measurePodLess(bench: Workbench, rounds: number): Promise<Figure[]> {
  const graph = 'twenty-steps'
  const firings = await bench.witness(automationFiring)
  const maps = await bench.witness(configMapType)
  await bench.automate(graphOf(graph, chainOfDecisions()))

  async function fire(): Promise<number> {
    const { firing, at } = await bench.fire(graph, { text: '{"escalate":true}' })
    const { name } = firing.metadata
    const end = await firings.first(({ metadata, status }) => metadata.name === name && status?.result !== undefined)
    if (end.object.status?.phase !== 'Succeeded') throw new Error(`${name} ended ${end.object.status?.phase}`)
    return end.at - at
  }

  async function write(round: number): Promise<number> {
    const ref = { apiVersion: 'v1', kind: 'ConfigMap', name: `writes-${round}`, namespace: bench.namespace }
    const start = performance.now()
    await bench.create({ apiVersion: ref.apiVersion, kind: ref.kind, metadata: { name: ref.name } })
    for (let step = 1; step <= steps; step++) {
      const { metadata } = await bench.client.mergePatch(ref, { data: { [`step-${step}`]: 'completed' } })
      await maps.first((seen) => seen.metadata.resourceVersion === metadata.resourceVersion)
    }
    return performance.now() - start
  }

  const { ours, peer } = await alternate(rounds, fire, write)
  return [
    {
      title: `firing of ${steps} pod-less steps created → Succeeded`,
      unit: 'ms',
      ours,
      peer: { title: `${steps} writes, one after the other`, samples: peer },
      target: medianBelow(1000),
    },
  ]
}

/** Parses the text in the event, then decides again and again, each time on the way on. */
function chainOfDecisions() {
  const parse = parseStep('parse', 'by-hand')
  const decisions = Array.from({ length: steps - 1 }, (_, index) => decision(`decide-${index}`, 'parse'))
  const content = { sourceNodeId: 'by-hand', pointer: '/text' }
  return {
    nodes: [manual(), { ...parse, inputBindings: { content } }, ...decisions],
    edges: [
      edge('starts', 'by-hand', 'parse'),
      edge('then', 'parse', 'decide-0'),
      ...decisions.flatMap(({ id }, index) => [edge('continue', id, decisions[index + 1]?.id), edge('otherwise', id)]),
    ],
  }
}
