import { automationGraph } from '../../src/api/automation-graph.ts'
import { automationGraphPlan } from '../../src/api/automation-graph-plan.ts'
import { isTrue } from '../../src/runtime/conditions.ts'
import { type Figure, medianBelow } from './figure.ts'
import { alternate } from './statistics.ts'
import { deploymentType, replicaSetType, sampleGraph, type Workbench } from './workbench.ts'

/**
 * From the request that applies a graph until its plan waits for review. Peer: from the request that applies a Deployment
 * (without replicas) until its ReplicaSet exists, which is what Kubernetes' own controllers take to react once. The graph
 * is let come to rest before the next sample.
 */
export async function measurePlanning(bench: Workbench, rounds: number): Promise<Figure[]> {
  const plans = await bench.witness(automationGraphPlan)
  const graphs = await bench.witness(automationGraph)
  const replicaSets = await bench.witness(replicaSetType)

  async function plan(round: number): Promise<number> {
    const name = `plan-${round}`
    const start = performance.now()
    await bench.apply(sampleGraph(name))
    const ready = await plans.first(({ spec, status }) => spec.content.graph === name && status?.phase === 'Pending')
    await graphs.first(({ metadata, status }) => metadata.name === name && isTrue(status?.conditions, 'Planned'))
    return ready.at - start
  }

  async function deployment(round: number): Promise<number> {
    const name = `peer-${round}`
    const start = performance.now()
    await bench.apply(emptyDeployment(name))
    const ready = await replicaSets.first(({ metadata }) => metadata.ownerReferences?.[0]?.name === name)
    return ready.at - start
  }

  const { ours, peer } = await alternate(rounds, plan, deployment)
  return [
    {
      title: 'graph applied → plan ready',
      unit: 'ms',
      ours,
      peer: { title: 'Deployment applied → ReplicaSet', samples: peer },
      target: medianBelow(300),
    },
  ]
}

function emptyDeployment(name: string) {
  const labels = { app: name }
  const spec = { containers: [{ name: 'none', image: 'none' }] }
  const { apiVersion, kind } = deploymentType
  const template = { metadata: { labels }, spec }
  return { apiVersion, kind, metadata: { name }, spec: { replicas: 0, selector: { matchLabels: labels }, template } }
}
