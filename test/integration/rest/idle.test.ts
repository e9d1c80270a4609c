import { expect, it, onTestFinished } from 'vitest'
import { kinds } from '../../../src/api/kinds.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import { KubeLease } from '../../../src/kube/lease.ts'
import { systemClock } from '../../../src/runtime/clock.ts'
import { Elector } from '../../../src/runtime/elector.ts'
import { Leadership } from '../../../src/runtime/leadership.ts'
import { silentLogger } from '../../../src/runtime/log.ts'
import { Metrics } from '../../../src/runtime/metrics.ts'
import { compressedClock } from '../../kit/compressed-clock.ts'
import { testClient } from '../../kit/control-plane.ts'
import { testEtcd, writtenIn } from '../../kit/etcd.ts'
import { eventually } from '../../kit/eventually.ts'
import { FaultProxy } from '../../kit/fault-proxy.ts'
import { startOperator } from '../../kit/operator.ts'
import { ToldMetrics } from '../../kit/told-metrics.ts'
import { chainGraph, Workspace } from '../firing/workspace.ts'

/** A minute passes in two seconds. */
const speed = 30
/** Longer than the Lease is renewed after. */
const minuteMillis = 60_000 / speed + 2000
/** So long nothing is written before it is taken for rest. */
const quietMillis = 1500

const leaseName = 'leader'
/** Every controller has an object: graph, plan, Automation, settled firing, Session, Run, Agent, Environment. */
const controllers = [
  'automationgraph',
  'automationgraphplan',
  'automation',
  'automationhistory',
  'automationfiring',
  'session',
  'run',
  'environment',
  'agent',
]

/** Starts an operator that takes part in an election, in compressed time. */
async function startElected(client: KubeClient, namespace: string, identity: string) {
  const metrics = new Metrics()
  const lease = new KubeLease(client, { namespace, name: leaseName, fieldManager: 'test' })
  const elector = new Elector({ lease, identity, clock: systemClock, log: silentLogger })
  const events = { record: () => {}, flush: async () => {} }
  const leadership = new Leadership({ elector, log: silentLogger, metrics, events })
  const clock = compressedClock(speed, Date.now())
  const operator = await startOperator(client, namespace, { clock, metrics, leadership })
  return { ...operator, told: async () => new ToldMetrics(await metrics.registry.metrics()) }
}

/** Waits until nobody writes anything into the namespace any more, the Lease apart. Returns the revision. */
async function restOf(namespace: string): Promise<bigint> {
  const lease = `/registry/leases/${namespace}/${leaseName}`
  return eventually(
    async () => {
      const revision = await testEtcd().revision()
      await pass(quietMillis)
      const written = (await writtenIn(namespace, revision)).filter((key) => key !== lease)
      if (written.length > 0) throw new Error(`still written: ${written.join(', ')}`)
      return revision
    },
    { timeout: 60_000 },
  )
}

function pass(millis: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, millis))
}

it.skipIf(process.env.GRAPHWRIGHT_TEST_KUBECONFIG)(
  'an idle minute with resyncs and a restart writes nothing but the Lease, whatever kinds there are',
  { timeout: 180_000 },
  async () => {
    const workspace = await Workspace.create()
    const { client, namespace } = workspace
    const proxy = await FaultProxy.start(client.transport.server)
    const through = testClient({ types: kinds, server: proxy.url })
    onTestFinished(async () => {
      await Promise.all([through.transport.close(), proxy.close()])
    })
    const first = await startElected(through, namespace, 'first')
    await workspace.applyGraph(chainGraph)
    await workspace.fire()
    expect((await workspace.settled()).status?.phase).toBe('Succeeded')
    const before = await restOf(namespace)

    await pass(minuteMillis)
    proxy.refuse()
    await eventually(async () => (await first.told()).sum('graphwright_watch_restarts_total', 'refused') > kinds.length)
    proxy.heal()
    await pass(minuteMillis)
    await first.stop()
    const second = await startElected(client, namespace, 'second')
    await eventually(
      async () => {
        const told = await second.told()
        return !told.isBusy && controllers.every((name) => told.passes(name) > 0)
      },
      { timeout: 30_000 },
    )
    await pass(minuteMillis)
    expect(await writtenIn(namespace, before)).toEqual([`/registry/leases/${namespace}/${leaseName}`])
  },
)
