import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import type { KubeClient } from '../../../src/kube/client.ts'
import { leaseType } from '../../../src/kube/core-types.ts'
import type { ElectionTiming } from '../../../src/kube/election.ts'
import { KubeLease } from '../../../src/kube/lease.ts'
import { systemClock } from '../../../src/runtime/clock.ts'
import { Elector } from '../../../src/runtime/elector.ts'
import { Leadership } from '../../../src/runtime/leadership.ts'
import { silentLogger } from '../../../src/runtime/log.ts'
import { Metrics } from '../../../src/runtime/metrics.ts'
import { freshNamespace, testClient } from '../../kit/control-plane.ts'
import { eventually } from '../../kit/eventually.ts'
import { installThings, Running } from './harness.ts'
import { readyStatus, testTypes, thing, thingController, thingType } from './thing.ts'

/** Five times as fast as in production. */
const timing: ElectionTiming = { leaseMillis: 3000, renewMillis: 2000, retryMillis: 400, attemptMillis: 400 }
const name = 'leader'

let client: KubeClient
let namespace: string

beforeAll(async () => {
  client = testClient({ types: testTypes })
  await installThings(client)
})
beforeEach(async () => {
  namespace = await freshNamespace(client)
})
afterAll(() => client.transport.close())

interface Options {
  readonly controller?: typeof thingController
  readonly beforeLead?: () => Promise<void>
}

/** A manager that takes part in the election of this test. */
function candidate(identity: string, { controller = thingController, beforeLead }: Options = {}) {
  const lease = new KubeLease(client, { namespace, name, fieldManager: 'test' })
  const elector = new Elector({ lease, identity, clock: systemClock, log: silentLogger, timing })
  const events = { record: () => {}, flush: async () => {} }
  const leadership = new Leadership({ elector, log: silentLogger, metrics: new Metrics(), events, beforeLead })
  const fatal: unknown[] = []
  const running = new Running(client, namespace, { leadership, onFatal: (error) => fatal.push(error) })
  running.manager.addController(controller)
  onTestFinished(() => running.manager.stop(100))
  return Object.assign(running, { fatal, started: running.manager.start() })
}

async function holder(): Promise<string | undefined> {
  return (await client.get(leaseType, { namespace, name })).spec?.holderIdentity
}

async function isReady(of: string): Promise<boolean> {
  const { status } = await client.get(thingType, { name: of, namespace })
  return status?.conditions?.[0]?.status === 'True'
}

/** Somebody writes himself into the Lease. */
async function seize(): Promise<void> {
  await client.mergePatch({ ...leaseType, namespace, name }, { spec: { holderIdentity: 'somebody else' } })
}

test('one that stands by is ready, has warm caches, keeps no keys, and works on everything when it leads', async () => {
  const first = candidate('first')
  await first.started
  const second = candidate('second')
  await client.create(thing('a', namespace))
  await eventually(() => isReady('a'))
  await eventually(() => second.manager.problems().length === 0)
  await eventually(() => second.manager.read.get(thingType, `${namespace}/a`)?.status !== undefined)
  expect(second.writes).toEqual([])
  expect(await second.metric('workqueue_depth{name="things"}')).toBe(0)

  await first.manager.stop()
  await client.create(thing('b', namespace))
  await second.started
  await eventually(() => isReady('b'))
  expect(await holder()).toBe('second')
  expect(await second.passes('success')).toBeGreaterThanOrEqual(2)
})

test('one that lost the lead ends its passes, writes nothing more, and is of no use any more', async () => {
  const begun = Promise.withResolvers<void>()
  const finish = Promise.withResolvers<void>()
  const reconcile: typeof thingController.reconcile = async (object, { now }) => {
    begun.resolve()
    await finish.promise
    return { status: readyStatus(object, now) }
  }
  const leader = candidate('first', { controller: { ...thingController, reconcile } })
  await leader.started
  await client.create(thing('a', namespace))
  await begun.promise
  await seize()
  await eventually(() => leader.fatal.length === 1)
  expect(leader.fatal[0]).toMatchObject({ name: 'LeadershipLost', message: expect.stringContaining('somebody else') })
  finish.resolve()
  await leader.manager.stop()
  expect(await isReady('a')).toBe(false)
  expect(leader.writes).toEqual([])
  expect(await holder()).toBe('somebody else')
})

test('a lead is not given up while something still acts on it', async () => {
  const begun = Promise.withResolvers<void>()
  const reconcile: typeof thingController.reconcile = () => {
    begun.resolve()
    return new Promise(() => {})
  }
  const leader = candidate('first', { controller: { ...thingController, reconcile } })
  await leader.started
  await client.create(thing('a', namespace))
  await begun.promise
  await leader.manager.stop(100)
  expect(await holder()).toBe('first')
})

test('a process that fails its last checks gives the lead to one that does not', async () => {
  const failing = candidate('first', { beforeLead: () => Promise.reject(new Error('out of date')) })
  await eventually(() => failing.fatal.length === 1)
  expect(failing.fatal[0]).toMatchObject({ message: 'out of date' })
  const second = candidate('second')
  await second.started
  expect(await holder()).toBe('second')
  expect(failing.writes).toEqual([])
})

test('a process that may not use the Lease says so, and is not ready', async () => {
  await candidate('first').started
  const stranger = testClient({ user: 'mallory', types: testTypes })
  onTestFinished(() => stranger.transport.close())
  const lease = new KubeLease(stranger, { namespace, name, fieldManager: 'test' })
  const elector = new Elector({ lease, identity: 'mallory', clock: systemClock, log: silentLogger, timing })
  onTestFinished(() => elector.stop())
  const ended = elector.run()
  await eventually(() => expect(elector.problem).toMatch(/^leader election: .*cannot get resource "leases"/))
  await elector.stop()
  await ended
})
