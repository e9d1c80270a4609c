import { automation } from '../../../src/api/automation.ts'
import { automationFiring } from '../../../src/api/automation-firing.ts'
import { type AutomationGraph, automationGraph } from '../../../src/api/automation-graph.ts'
import { environment } from '../../../src/api/environment.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import { jobType } from '../../../src/kube/core-types.ts'
import type { KubeObject, ResourceType } from '../../../src/lib/object.ts'
import { isTrue } from '../../../src/runtime/conditions.ts'
import { eventually } from '../../kit/eventually.ts'
import { edge, schedule } from '../../kit/graph-documents.ts'
import { cronJobType } from './plane.ts'

const minutesMillis = 60_000
const lanes = 16

export interface Place {
  readonly client: KubeClient
  readonly namespace: string
}

/** A namespace with what Automations need. */
export async function makeNamespace({ client, namespace }: Place): Promise<void> {
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  await client.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'due', namespace } })
  const { apiVersion, kind } = environment
  const spec = { image: 'registry.example/agent:1' }
  await client.create<KubeObject>({ apiVersion, kind, metadata: { name: 'due', namespace }, ...{ spec } })
  await eventually(async () => {
    const found = await client.get(environment, { name: 'due', namespace })
    return isTrue(found.status?.conditions, 'Ready')
  })
}

/** Graphs of one decision that approve themselves. Resolves when the Automation of each is active. */
export async function makeAutomations(place: Place, count: number, cron: string): Promise<void> {
  const { client, namespace } = place
  await inLanes(count, async (index) => {
    const { apiVersion, kind } = automationGraph
    const nodes = [
      schedule('tick', cron, 'UTC'),
      {
        id: 'decide',
        kind: 'decision' as const,
        inputBindings: { occurrence: { sourceNodeId: 'tick', pointer: '/occurrence' } },
        condition: {
          kind: 'predicates' as const,
          predicates: [{ kind: 'contains' as const, pointer: '/occurrence', value: 'T' }],
        },
      },
    ]
    const edges = [edge('starts', 'tick', 'decide'), edge('continue', 'decide'), edge('otherwise', 'decide')]
    const spec = { environment: 'due', serviceAccountName: 'due', applyPolicy: 'Automatic', nodes, edges }
    await client.create({ apiVersion, kind, metadata: { name: nameOf(index), namespace }, spec } as AutomationGraph)
  })
  await until(5 * minutesMillis, async () => {
    const { items } = await client.list(automation, { namespace })
    return items.filter(({ status }) => status?.state === 'Active' && status.next?.includes('T')).length === count
  })
}

/** CronJobs whose Jobs are suspended: nothing is left to do for a Job once it is there. */
export async function makeCronJobs({ client, namespace }: Place, count: number, cron: string): Promise<void> {
  const container = { name: 'none', image: 'registry.example/none:1' }
  const pod = { spec: { restartPolicy: 'Never', containers: [container] } }
  await inLanes(count, async (index) => {
    const spec = { schedule: cron, jobTemplate: { spec: { suspend: true, template: pod } } }
    const { apiVersion, kind } = cronJobType
    await client.create<KubeObject>({ apiVersion, kind, metadata: { name: nameOf(index), namespace }, ...{ spec } })
  })
}

/** Deletes all firings. Resolves when they are gone, and every Automation knows that none is under way. */
export async function removeFirings(place: Place): Promise<void> {
  await removeAll(place, automationFiring)
  await until(minutesMillis, async () => {
    const { items } = await place.client.list(automation, { namespace: place.namespace })
    return items.every(({ status }) => (status?.active ?? []).length + (status?.pending ?? []).length === 0)
  })
}

/** Deletes all Jobs. Resolves when they are gone, and every CronJob knows. */
export async function removeJobs(place: Place): Promise<void> {
  await removeAll(place, jobType)
  await until(minutesMillis, async () => {
    const { items } = await place.client.list(cronJobType, { namespace: place.namespace })
    return items.every((cronJob) => (activeOf(cronJob) ?? []).length === 0)
  })
}

function activeOf(cronJob: KubeObject): unknown[] | undefined {
  return (cronJob as { status?: { active?: unknown[] } }).status?.active
}

async function removeAll<T extends KubeObject>({ client, namespace }: Place, type: ResourceType<T>): Promise<void> {
  const path = `/apis/${type.apiVersion}/namespaces/${namespace}/${type.plural}`
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' }
  await client.transport.text({ method: 'DELETE', path, body })
  await until(minutesMillis, async () => (await client.list(type, { namespace })).items.length === 0)
}

function until(timeout: number, check: () => Promise<boolean>): Promise<unknown> {
  return eventually(check, { timeout, interval: 1000 })
}

function nameOf(index: number): string {
  return `due-${String(index).padStart(4, '0')}`
}

async function inLanes(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0
  const lane = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}
