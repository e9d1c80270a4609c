import { automation } from '../../../src/api/automation.ts'
import { automationGraph } from '../../../src/api/automation-graph.ts'
import { environment } from '../../../src/api/environment.ts'
import { fieldManagers } from '../../../src/api/labels.ts'
import type { KubeObject } from '../../../src/lib/object.ts'
import { isTrue } from '../../../src/runtime/conditions.ts'
import type { Etcd } from '../../kit/etcd-client.ts'
import { eventually } from '../../kit/eventually.ts'
import { Breeder, expectSame, herdGraph, herdName, isPastureReady, pasture, readKept, sow } from '../../kit/herd.ts'
import type { BenchPlane } from '../plane.ts'
import { serversAtRest } from '../processor.ts'

const minuteMillis = 60_000
const halfAYearMillis = 182 * 24 * 3600 * 1000
/** Made by the operator itself: the model of all others, and two to compare copies with. */
const made = 3
/** What changing a graph until it is applied may take, for all that are to be due. */
const changingMillis = 120_000
const lanes = 8

export interface HerdOptions {
  readonly namespace: string
  readonly count: number
}

export interface DueOptions extends HerdOptions {
  /** How many of them are to be due in one instant. */
  readonly due: number
}

/** Makes so many graphs with everything that belongs to them. The operator makes the first ones, and then stops. */
export async function makeHerd(plane: BenchPlane, etcd: Etcd, { namespace, count }: HerdOptions): Promise<void> {
  const { client } = plane
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  for (const object of pasture()) await client.create({ ...object, metadata: { ...object.metadata, namespace } })
  const manager = await plane.startManager()
  await eventually(() => isPastureReady(client, namespace), { timeout: minuteMillis, interval: 500 })
  const names = Array.from({ length: made }, (_, index) => herdName(index))
  for (const name of names) await applyGraph(plane, namespace, name, cronAt(new Date(Date.now() + halfAYearMillis)))
  await eventually(() => allAtRest(plane, namespace, names), { timeout: 2 * minuteMillis, interval: 500 })
  await manager.stop()
  const [model, ...others] = await Promise.all(names.map((name) => readKept(etcd, namespace, name)))
  if (model === undefined) throw new Error('the operator made nothing')
  const breeder = await Breeder.from(client, model)
  for (const [index, other] of others.entries()) expectSame(breeder, names[index + 1] ?? '', other)
  await sow(etcd, breeder, { from: made, to: count })
  // What was written past it the API server takes into its caches, and the garbage collector looks at each of it.
  await serversAtRest(plane)
}

/** Changes the Environment that all of them refer to, in a way that means nothing. */
export async function touchEnvironment({ client }: BenchPlane, namespace: string): Promise<void> {
  const { apiVersion, kind } = environment
  const ref = { apiVersion, kind, name: 'triage', namespace }
  await client.mergePatch(ref, { metadata: { labels: { touched: 'yes' } } })
}

/** Changes so many graphs, by the ordinary way of a plan each, to be due in one instant to come, and returns that. */
export async function makeDue(plane: BenchPlane, { namespace, count, due }: DueOptions): Promise<Date> {
  const instant = new Date(Math.ceil((Date.now() + changingMillis) / minuteMillis) * minuteMillis)
  const names = Array.from({ length: due }, (_, index) => herdName(index * Math.floor(count / due)))
  let next = 0
  const lane = async () => {
    while (next < names.length) await applyGraph(plane, namespace, names[next++] ?? '', cronAt(instant))
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  await eventually(
    async () => {
      const { items } = await plane.client.list(automation, { namespace })
      return items.filter(({ status }) => status?.next === instant.toISOString()).length === due
    },
    { timeout: Math.max(0, instant.getTime() - Date.now() - 2000), interval: 2000 },
  )
  return instant
}

async function applyGraph({ client }: BenchPlane, namespace: string, name: string, cron: string): Promise<void> {
  const graph = herdGraph(name, cron)
  const object = { ...graph, metadata: { ...graph.metadata, namespace } }
  await client.apply<KubeObject>(object, { fieldManager: fieldManagers.cli })
}

/** Whether all of them are applied, ready and scheduled. */
async function allAtRest({ client }: BenchPlane, namespace: string, names: readonly string[]): Promise<boolean> {
  const { items: graphs } = await client.list(automationGraph, { namespace })
  const { items: automations } = await client.list(automation, { namespace })
  const ready = graphs.filter(
    ({ status }) =>
      isTrue(status?.conditions, 'Ready') && isTrue(status?.conditions, 'InSync') && status?.drift === 'none',
  )
  const scheduled = automations.filter(
    ({ status }) => status?.state === 'Active' && status.schedule?.next !== undefined,
  )
  return ready.length === names.length && scheduled.length === names.length
}

/** The minute of this instant, once a year. */
function cronAt(instant: Date): string {
  return `${instant.getUTCMinutes()} ${instant.getUTCHours()} ${instant.getUTCDate()} ${instant.getUTCMonth() + 1} *`
}
