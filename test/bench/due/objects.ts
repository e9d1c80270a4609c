import { automation } from '../../../src/api/automation.ts'
import { automationFiring } from '../../../src/api/automation-firing.ts'
import { type AutomationGraph, automationGraph } from '../../../src/api/automation-graph.ts'
import { environment } from '../../../src/api/environment.ts'
import type { GraphNode } from '../../../src/api/graph-document.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import { jobType } from '../../../src/kube/core-types.ts'
import type { KubeObject, ResourceType } from '../../../src/lib/object.ts'
import { ownedBy } from '../../../src/lib/owner-references.ts'
import { isTrue } from '../../../src/runtime/conditions.ts'
import { eventually } from '../../kit/eventually.ts'
import { edge, schedule } from '../../kit/graph-documents.ts'

export const cronJobType: ResourceType<KubeObject> = {
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  plural: 'cronjobs',
  namespaced: true,
}

const minuteMillis = 60_000
/** A busy machine needs a while. */
const patienceMillis = 10 * minuteMillis
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

/**
 * A graph of one decision that approves itself, and further Automations of the same program, which break the glass: a
 * graph has but one. Resolves when all are active.
 */
export async function makeAutomations(place: Place, count: number, cron: string): Promise<void> {
  const { client, namespace } = place
  const graph = await client.create(decisionGraph(namespace, cron))
  const applied = () => client.get(automation, { name: graph.metadata.name, namespace })
  const { spec } = await eventually(applied, { timeout: minuteMillis, interval: 100 })
  const { apiVersion, kind } = automation
  await inLanes(count - 1, async (index) => {
    const metadata = { name: nameOf(index), namespace, ownerReferences: [ownedBy(graph)] }
    await client.create<KubeObject>({ apiVersion, kind, metadata, ...{ spec } })
  })
  await until(async () => {
    const { items } = await client.list(automation, { namespace })
    return (
      items.filter(({ status }) => status?.state === 'Active' && status.schedule?.next !== undefined).length === count
    )
  })
}

function decisionGraph(namespace: string, cron: string): AutomationGraph {
  const decide: GraphNode = {
    id: 'decide',
    kind: 'decision',
    inputBindings: { occurrence: { sourceNodeId: 'tick', pointer: '/occurrence' } },
    condition: { kind: 'predicates', predicates: [{ kind: 'contains', pointer: '/occurrence', value: 'T' }] },
  }
  const edges = [edge('starts', 'tick', 'decide'), edge('continue', 'decide'), edge('otherwise', 'decide')]
  const nodes = [schedule('tick', cron, 'UTC'), decide]
  const spec = { environment: 'due', serviceAccountName: 'due', applyPolicy: 'Automatic', nodes, edges }
  const { apiVersion, kind } = automationGraph
  return { apiVersion, kind, metadata: { name: 'due', namespace }, spec } as AutomationGraph
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
  await until(async () => {
    const { items } = await place.client.list(automation, { namespace: place.namespace })
    return items.every(({ status }) => (status?.active ?? []).length + (status?.pending ?? []).length === 0)
  })
}

/** Deletes all Jobs. Resolves when they are gone, and every CronJob knows. */
export async function removeJobs(place: Place): Promise<void> {
  await removeAll(place, jobType)
  await until(async () => {
    const { items } = await place.client.list(cronJobType, { namespace: place.namespace })
    return items.every((cronJob) => (activeOf(cronJob) ?? []).length === 0)
  })
}

function activeOf(cronJob: KubeObject): unknown[] | undefined {
  return (cronJob as { status?: { active?: unknown[] } }).status?.active
}

/** Again and again: some may be made at this very moment. */
async function removeAll<T extends KubeObject>({ client, namespace }: Place, type: ResourceType<T>): Promise<void> {
  const path = `/apis/${type.apiVersion}/namespaces/${namespace}/${type.plural}`
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' }
  await until(async () => {
    await client.transport.text({ method: 'DELETE', path, body })
    return (await client.list(type, { namespace })).items.length === 0
  })
}

function until(check: () => Promise<boolean>): Promise<unknown> {
  return eventually(check, { timeout: patienceMillis, interval: 1000 })
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
