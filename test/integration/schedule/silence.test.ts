import { expect, it, onTestFinished } from 'vitest'
import { kinds } from '../../../src/api/kinds.ts'
import type { ListOptions, WatchRequest } from '../../../src/kube/call-options.ts'
import { KubeClient } from '../../../src/kube/client.ts'
import { coreTypes } from '../../../src/kube/core-types.ts'
import { Transport } from '../../../src/kube/transport.ts'
import type { KubeObject, ResourceType } from '../../../src/lib/object.ts'
import { compressedClock } from '../../kit/compressed-clock.ts'
import { testClient, testKubeConfig } from '../../kit/control-plane.ts'
import { eventually } from '../../kit/eventually.ts'
import { FaultProxy } from '../../kit/fault-proxy.ts'
import { startOperator } from '../../kit/operator.ts'
import { Ledger } from './ledger.ts'
import { dueUntil, problemsOf, type Subject } from './oracle.ts'
import { Ticking } from './ticking.ts'

/** Lists and watches by another way than everything else: what it is told may stop while what it does still works. */
class TwoWayClient extends KubeClient {
  readonly #reading: KubeClient

  constructor(reading: KubeClient) {
    super(new Transport(testKubeConfig()), [...coreTypes, ...kinds])
    this.#reading = reading
  }

  override list<T extends KubeObject>(type: ResourceType<T>, options?: ListOptions) {
    return this.#reading.list(type, options)
  }

  override watch(type: ResourceType<KubeObject>, request: WatchRequest) {
    return this.#reading.watch(type, request)
  }
}

const speed = 30
const minute = 60_000
/** Three minutes, and what belongs to them, in seconds. */
const silenceMillis = 3000
const watchTiming = {
  idleTimeoutMillis: 2000,
  longestWatchSeconds: 2,
  firstBackoffMillis: 50,
  longestBackoffMillis: 500,
}

it('a manager that hears nothing starts nothing, obeys what it has not heard, and catches up afterwards', async () => {
  const ticking = await Ticking.create()
  const { client, namespace } = ticking
  const proxy = await FaultProxy.start(client.transport.server)
  onTestFinished(() => proxy.close())
  const deaf = new TwoWayClient(testClient({ types: kinds, server: proxy.url, timeoutMillis: 1000 }))
  const start = Date.now()
  const clock = compressedClock(speed, start)
  const minutes = (count: number) => new Promise((resolve) => setTimeout(resolve, (count * minute) / speed))
  const ledger = await Ledger.start(client, namespace, () => clock.now().getTime())
  onTestFinished(() => ledger.stop())
  const { manager } = await startOperator(deaf, namespace, { clock, silenceMillis, watchTiming })
  await ticking.ready()
  const add = async (name: string, policy: Subject['policy']): Promise<Subject> => {
    const { metadata } = await ticking.add(name, '* * * * *', { missedOccurrences: { policy } })
    return { name, step: 1, policy, createdAt: metadata.creationTimestamp ?? '' }
  }
  const subjects = [await add('latest', 'Latest'), await add('all', 'All')]
  await add('unheard', 'All')
  await eventually(() => ['latest', 'all', 'unheard'].every((name) => ledger.firings(name).length >= 2))
  await eventually(() => manager.problems().length === 0)

  proxy.blackHole()
  await eventually(() => manager.problems().some((one) => one.startsWith('automations: no sign of life')))
  // Long past what was begun before, all of which would still work: nothing but what it hears is cut off.
  await ticking.change('unheard', { paused: true })
  await minutes(1)
  await ledger.catchesUp()
  const before = (await ticking.firings()).length
  const pausedFirings = ledger.firings('unheard').length
  await minutes(5)
  await ledger.catchesUp()
  expect((await ticking.firings()).length).toBe(before)

  proxy.heal()
  await eventually(() => manager.problems().length === 0, { timeout: 20_000 })
  const until = Math.floor(clock.now().getTime() / minute) * minute
  await eventually(async () => {
    for (const { name } of subjects) {
      const { status } = await ticking.get(name)
      if ((status?.schedule?.watermark ?? '') < new Date(until).toISOString()) return false
      expect(status).toMatchObject({ state: 'Active' })
      expect(status).not.toHaveProperty('pause')
      expect(status?.failures?.row ?? []).toEqual([])
    }
    return true
  })
  await eventually(async () => {
    await ledger.catchesUp()
    return (await ticking.firings()).every(({ status }) => status?.settledAt !== undefined)
  })
  // More may have become due meanwhile.
  for (const subject of subjects) {
    const { status } = await ticking.get(subject.name)
    const last = Date.parse(status?.schedule?.watermark ?? '')
    await ledger.catchesUp()
    const firings = ledger.firings(subject.name).filter(({ occurrence }) => Date.parse(occurrence) <= last)
    const problems = problemsOf(subject, last, firings, ledger.skips(subject.name))
    expect(problems.filter((one) => !/ended (undefined|Pending|Running)/.test(one))).toEqual([])
    expect(firings.length).toBe(
      dueUntil(subject, last).length - ledger.skips(subject.name).reduce((sum, { count }) => sum + count, 0),
    )
  }
  const [latest, all] = subjects.map(({ name }) => ledger.skips(name).reduce((sum, { count }) => sum + count, 0))
  expect(latest).toBeGreaterThanOrEqual(4)
  expect(all).toBe(0)
  expect(ledger.firings('unheard').length).toBe(pausedFirings)
}, 120_000)
