import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { KubeClient } from '../../../src/kube/client.ts'
import { type ConfigMap, configMapType } from '../../../src/kube/core-types.ts'
import { Informer } from '../../../src/kube/informer.ts'
import type { WatchTiming } from '../../../src/kube/pacing.ts'
import type { TransportOptions } from '../../../src/kube/transport.ts'
import { freshNamespace, testClient } from '../../kit/control-plane.ts'
import { eventually } from '../../kit/eventually.ts'
import { FaultProxy } from '../../kit/fault-proxy.ts'
import { widget, widgetClient, widgetType } from './widget.ts'
import { Witness, Writer } from './witness.ts'

const pause = (millis: number) => new Promise<void>((resolve) => setTimeout(resolve, millis))

let direct: KubeClient
let namespace: string
let proxy: FaultProxy
let writer: Writer
const open: Witness[] = []

beforeAll(() => {
  direct = testClient()
})

afterAll(() => direct.transport.close())

beforeEach(async () => {
  namespace = await freshNamespace(direct)
  proxy = await FaultProxy.start(direct.transport.server)
  writer = new Writer(direct, namespace)
})

afterEach(async () => {
  for (const witness of open.splice(0)) await witness.stop()
  await proxy.close()
})

async function witness(timing: Partial<WatchTiming> = {}, options: TransportOptions = {}): Promise<Witness> {
  const client = testClient({ server: proxy.url, timeoutMillis: 1_000, ...options })
  const started = new Witness(client, namespace, timing)
  open.push(started)
  await started.start()
  return started
}

/** Runs `faults` while the writer writes. */
async function underLoad(faults: () => Promise<void>): Promise<void> {
  let over = false
  const writing = writer.run(() => over)
  try {
    await faults()
  } finally {
    over = true
  }
  await writing
}

describe('the store equals the live list, no event is lost and none invented', () => {
  test('without any fault, and without a second list', async () => {
    const seen = await witness()
    await underLoad(() => pause(500))
    await seen.catchesUp(direct)
    seen.expectTruth(writer)
    seen.expectEverything(writer)
    expect(seen.restarts).toEqual([])
    expect(writer.writes).toBeGreaterThan(20)
  })

  test('when connections are reset again and again', async () => {
    const seen = await witness()
    await underLoad(async () => {
      for (let i = 0; i < 12; i++) {
        await pause(120)
        proxy.reset()
      }
    })
    await seen.catchesUp(direct)
    seen.expectTruth(writer)
    expect(seen.restarts.filter((reason) => reason === 'reset').length).toBeGreaterThanOrEqual(5)
    if (seen.restarts.every((reason) => reason === 'reset')) seen.expectEverything(writer)
  })

  test('when a connection goes dead without a word', async () => {
    const seen = await witness({ idleTimeoutMillis: 600 })
    await underLoad(async () => {
      await pause(100)
      proxy.blackHolePresent()
      await eventually(() => seen.restarts.includes('idle'), { timeout: 10_000 })
    })
    await seen.catchesUp(direct)
    seen.expectTruth(writer)
  })

  test('when a connection goes dead while nothing is expected on it: pings find out', async () => {
    const seen = await witness({ idleTimeoutMillis: 60_000 }, { pingMillis: 300 })
    await underLoad(async () => {
      await pause(100)
      proxy.blackHolePresent()
      await eventually(() => seen.restarts.includes('idle'), { timeout: 10_000 })
    })
    await seen.catchesUp(direct)
    seen.expectTruth(writer)
  })

  test('when the network is away for a while', async () => {
    const seen = await witness({ idleTimeoutMillis: 600 })
    await underLoad(async () => {
      proxy.blackHole()
      await eventually(() => seen.restarts.includes('refused'), { timeout: 15_000 })
      expect(seen.informer.problem).toContain('cannot reach the API server')
      proxy.heal()
    })
    await seen.catchesUp(direct)
    seen.expectTruth(writer)
    expect(seen.informer.problem).toBeUndefined()
  })

  test('when everything is slow and the connection breaks too', async () => {
    const seen = await witness()
    proxy.delay(40)
    await underLoad(async () => {
      for (let i = 0; i < 5; i++) {
        await pause(250)
        proxy.reset()
      }
    })
    await seen.catchesUp(direct)
    seen.expectTruth(writer)
  })
})

test('own writes: the version of a write is reached when the store holds it', async () => {
  const client = testClient()
  const informer = new Informer(client, configMapType, { namespace })
  const stop = new AbortController()
  const ended = informer.start(stop.signal)
  await informer.synced
  await writer.once()
  const written = await client.create(configMapOf('mine'))
  await eventually(() => informer.observedVersion >= BigInt(written.metadata.resourceVersion ?? ''))
  expect(informer.store.get(`${namespace}/mine`)).toBeDefined()
  expect(informer.silentMillis).toBeLessThan(2_000)
  stop.abort()
  await ended
  await client.transport.close()
})

function configMapOf(name: string): ConfigMap {
  return { apiVersion: configMapType.apiVersion, kind: configMapType.kind, metadata: { name, namespace }, data: {} }
}

test('the time of the last change of a spec is kept, from the managedFields that are not', async () => {
  const client = await widgetClient()
  const informer = new Informer(client, widgetType, { namespace })
  const stop = new AbortController()
  const ended = informer.start(stop.signal)
  const before = Date.now() - 1_000
  const created = await client.apply(widget('timed', namespace, { size: 1 }), { fieldManager: 'test' })
  await client.applyStatus({ ...created, status: { seen: 1 } }, { fieldManager: 'other' })
  await eventually(() => informer.store.get(`${namespace}/timed`)?.status?.seen === 1)
  expect(informer.store.get(`${namespace}/timed`)?.metadata).not.toHaveProperty('managedFields')
  const changedAt = Date.parse(informer.store.specChangedAt(`${namespace}/timed`) ?? '')
  expect(changedAt).toBeGreaterThanOrEqual(before)
  expect(changedAt).toBeLessThanOrEqual(Date.now())
  stop.abort()
  await ended
  await client.transport.close()
})
