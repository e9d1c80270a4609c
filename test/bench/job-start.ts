import { automationFiring } from '../../src/api/automation-firing.ts'
import { environment } from '../../src/api/environment.ts'
import { labels } from '../../src/api/labels.ts'
import { type Job, jobType, type Pod, podType } from '../../src/kube/core-types.ts'
import type { DeepReadonly } from '../../src/lib/readonly.ts'
import { edge, manual } from '../kit/graph-documents.ts'
import { type Figure, percentilesBelow } from './figure.ts'
import { alternate } from './statistics.ts'
import { graphOf, type Workbench } from './workbench.ts'

/** No node has this label, so that no pod starts and takes the processor from what is measured. */
const nowhere = { 'graphwright.dev/bench': 'nowhere' }

/**
 * From the request that creates a firing until the Job of its first step exists: firing, start, admission, Session, Run,
 * Job. Peer: from the request that creates a Job until the Job controller has made its pod. Each sample is let come to rest,
 * which is when everybody knows that there is no node for its pod, before the next is taken.
 */
export async function measureJobStart(bench: Workbench, rounds: number): Promise<Figure[]> {
  const graph = 'one-agent'
  const jobs = await bench.witness(jobType)
  const pods = await bench.witness(podType)
  const firings = await bench.witness(automationFiring)
  const { apiVersion, kind } = environment
  const spec = { image: 'none', nodeSelector: nowhere } as never
  await bench.apply({ apiVersion, kind, metadata: { name: 'nowhere' }, spec })
  const agent = { id: 'triage', kind: 'step_agent' as const, agent: 'triage', prompt: 'Triage {{event.items}}' }
  const document = graphOf(graph, { nodes: [manual(), agent], edges: [edge('starts', 'by-hand', 'triage')] })
  await bench.automate({ ...document, spec: { ...document.spec, environment: 'nowhere' } })

  async function fire(): Promise<number> {
    const { firing, at } = await bench.fire(graph, { items: [] })
    const { name } = firing.metadata
    const made = await jobs.first(({ metadata }) => metadata.labels?.[labels.firing] === name)
    await firings.first(({ metadata, status }) => metadata.name === name && status?.reason === 'Unschedulable')
    return made.at - at
  }

  async function bareJob(round: number): Promise<number> {
    const name = `peer-${round}`
    const start = performance.now()
    await bench.create(unschedulableJob(name))
    const isOfJob = ({ metadata }: DeepReadonly<Pod>) => metadata.labels?.['batch.kubernetes.io/job-name'] === name
    const made = await pods.first(isOfJob)
    await pods.first((pod) => isOfJob(pod) && isUnschedulable(pod))
    return made.at - start
  }

  const { ours, peer } = await alternate(rounds, fire, bareJob)
  return [
    {
      title: 'firing created → Job created',
      unit: 'ms',
      ours,
      peer: { title: 'Job created → pod created', samples: peer },
      target: percentilesBelow(150, 500),
    },
  ]
}

function isUnschedulable({ status }: DeepReadonly<Pod>): boolean {
  return status?.conditions?.some(({ reason }) => reason === 'Unschedulable') ?? false
}

function unschedulableJob(name: string): Job {
  const securityContext = {
    runAsNonRoot: true,
    runAsUser: 65532,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  }
  const containers = [{ name: 'none', image: 'none', securityContext }]
  const spec = { restartPolicy: 'Never' as const, nodeSelector: nowhere, containers }
  const { apiVersion, kind } = jobType
  return { apiVersion, kind, metadata: { name }, spec: { backoffLimit: 0, template: { spec } } }
}
