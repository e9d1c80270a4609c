import { expect, it, onTestFinished } from 'vitest'
import { automationGraph } from '../../../src/api/automation-graph.ts'
import { environment } from '../../../src/api/environment.ts'
import { kinds } from '../../../src/api/kinds.ts'
import { fieldManagers } from '../../../src/api/labels.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import { isTrue } from '../../../src/runtime/conditions.ts'
import { Metrics } from '../../../src/runtime/metrics.ts'
import { compressedClock } from '../../kit/compressed-clock.ts'
import { freshNamespace, testClient } from '../../kit/control-plane.ts'
import { installCrds } from '../../kit/crds.ts'
import { testEtcd, writtenIn } from '../../kit/etcd.ts'
import { eventually } from '../../kit/eventually.ts'
import { FaultProxy } from '../../kit/fault-proxy.ts'
import { Breeder, expectSame, herdGraph, herdName, isPastureReady, pasture, readKept, sow } from '../../kit/herd.ts'
import { startOperator } from '../../kit/operator.ts'
import { ToldMetrics } from '../../kit/told-metrics.ts'

const count = 300
/** A minute passes in a second. */
const speed = 60
const idleMillis = 3000
const controllers = ['automation', 'automationhistory', 'automationgraph', 'automationgraphplan']

/** A namespace with what the graphs refer to, and two graphs that the operator has applied. */
async function twoGraphs(client: KubeClient, cron: string): Promise<string> {
  await installCrds(client)
  const namespace = await freshNamespace(client)
  for (const object of pasture()) await client.create({ ...object, metadata: { ...object.metadata, namespace } })
  const operator = await startOperator(client, namespace)
  await eventually(() => isPastureReady(client, namespace), { timeout: 30_000 })
  for (const name of [herdName(0), herdName(1)]) {
    const graph = herdGraph(name, cron)
    await client.apply({ ...graph, metadata: { ...graph.metadata, namespace } }, { fieldManager: fieldManagers.cli })
  }
  await eventually(
    async () => {
      const { items } = await client.list(automationGraph, { namespace })
      return items.every(({ status }) => isTrue(status?.conditions, 'Ready') && status?.applied !== undefined)
    },
    { timeout: 30_000 },
  )
  await operator.stop()
  return namespace
}

async function toldBy(metrics: Metrics): Promise<ToldMetrics> {
  return new ToldMetrics(await metrics.registry.metrics())
}

/** Waits until every graph and what belongs to it was looked at so often, and nothing is left to do. */
function lookedAt(metrics: Metrics, times: number, names: readonly string[] = controllers): Promise<unknown> {
  return eventually(
    async () => {
      const told = await toldBy(metrics)
      const passes = names.map((name) => `${name} ${told.passes(name)}`).join(', ')
      const enough = names.every((name) => told.passes(name) >= times * count)
      if (told.isBusy || !enough) throw new Error(`${told.isBusy ? 'busy' : 'idle'} after passes: ${passes}`)
    },
    { timeout: 60_000, interval: 100 },
  )
}

it.skipIf(process.env.GRAPHWRIGHT_TEST_KUBECONFIG)(
  `${count} Automations at rest: a restart, idle minutes and resyncs write nothing`,
  { timeout: 180_000 },
  async () => {
    const client = testClient({ types: kinds })
    const proxy = await FaultProxy.start(client.transport.server)
    const through = testClient({ types: kinds, server: proxy.url })
    onTestFinished(async () => {
      await Promise.all([client.transport.close(), through.transport.close(), proxy.close()])
    })
    const inMonths = new Date(Date.now() + 180 * 24 * 3600 * 1000)
    const namespace = await twoGraphs(client, `0 9 ${inMonths.getUTCDate()} ${inMonths.getUTCMonth() + 1} *`)
    const [model, other] = await Promise.all([0, 1].map((index) => readKept(testEtcd(), namespace, herdName(index))))
    if (model === undefined || other === undefined) throw new Error('the operator made nothing')
    const breeder = await Breeder.from(client, model)
    expectSame(breeder, herdName(1), other)
    await sow(testEtcd(), breeder, { from: 2, to: count })

    const before = await testEtcd().revision()
    const metrics = new Metrics()
    const clock = compressedClock(speed, Date.now())
    await startOperator(through, namespace, { metrics, clock })
    await lookedAt(metrics, 1)
    expect(await writtenIn(namespace, before)).toEqual([])

    await new Promise((resolve) => setTimeout(resolve, idleMillis))
    proxy.refuse()
    await eventually(async () => {
      const told = await toldBy(metrics)
      return told.sum('graphwright_watch_restarts_total', 'refused') > kinds.length
    })
    proxy.heal()
    await new Promise((resolve) => setTimeout(resolve, idleMillis))
    expect(await writtenIn(namespace, before)).toEqual([])

    const { apiVersion, kind } = environment
    await client.mergePatch({ apiVersion, kind, name: 'triage', namespace }, { metadata: { labels: { seen: 'yes' } } })
    await lookedAt(metrics, 2, ['automation', 'automationgraph'])
    const own = `/registry/graphwright.dev/environments/${namespace}/triage`
    expect(await writtenIn(namespace, before)).toEqual([own])
  },
)
