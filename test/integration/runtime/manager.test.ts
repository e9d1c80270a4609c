import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { KubeClient } from '../../../src/kube/client.ts'
import { configMapType } from '../../../src/kube/core-types.ts'
import { Metrics } from '../../../src/runtime/metrics.ts'
import { freshNamespace, testClient } from '../../kit/control-plane.ts'
import { eventually } from '../../kit/eventually.ts'
import { installThings, Running, run, stopAll } from './harness.ts'
import { readyStatus, testTypes, thing, thingController, thingType } from './thing.ts'

let client: KubeClient
let namespace: string

beforeAll(async () => {
  client = testClient({ types: testTypes })
  await installThings(client)
})
beforeEach(async () => {
  namespace = await freshNamespace(client)
})
afterEach(stopAll)
afterAll(() => client.transport.close())

async function isReady(name: string, where = namespace) {
  const { status } = await client.get(thingType, { name, namespace: where })
  return status?.conditions?.[0]?.status === 'True'
}

test('looks only at the namespaces it is given, and at all of those', async () => {
  const [second, outside] = [await freshNamespace(client), await freshNamespace(client)]
  await client.create(thing('outside', outside))
  const started = await run(client, namespace, thingController, { namespaces: [namespace, second] })
  await client.create(thing('a', namespace, { children: 1 }))
  await client.create(thing('b', second, { children: 1 }))
  await eventually(() => isReady('a'))
  await eventually(() => isReady('b', second))
  expect(await isReady('outside', outside)).toBe(false)
  const { read } = started.manager
  expect(
    read
      .list(thingType)
      .map(({ metadata }) => metadata.name)
      .sort(),
  ).toEqual(['a', 'b'])
  expect(read.list(thingType, second).map(({ metadata }) => metadata.name)).toEqual(['b'])
  expect(read.get(thingType, `${second}/b`)?.metadata.name).toBe('b')
  const uid = read.get(thingType, `${second}/b`)?.metadata.uid ?? ''
  await eventually(() => read.byOwner(configMapType, uid).length === 1)
})

test('starts no controller before every cache it reads is filled', async () => {
  await client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'there', namespace } })
  await client.create(thing('t', namespace))
  const seen: boolean[] = []
  await run(client, namespace, {
    ...thingController,
    watches: [],
    reads: [configMapType],
    reconcile: (object, { now, read }) => {
      seen.push(read.get(configMapType, `${namespace}/there`) !== undefined)
      return { status: readyStatus(object, now) }
    },
  })
  await eventually(() => isReady('t'))
  expect(seen).not.toContain(false)
})

test('declared indexes are kept, a kind nobody declared is refused', async () => {
  const started = new Running(client, namespace)
  started.manager.informer(thingType, { indexes: { text: ({ spec }) => (spec.text === undefined ? [] : [spec.text]) } })
  started.manager.addController(thingController)
  await started.manager.start()
  const { read } = started.manager
  await client.create(thing('a', namespace, { text: 'x' }))
  await client.create(thing('b', namespace, { text: 'y' }))
  await eventually(() => read.byIndex(thingType, 'text', 'y').length === 1)
  expect(read.byIndex(thingType, 'text', 'y')[0]?.metadata.name).toBe('b')
  const undeclared = { ...thingType, kind: 'Other' }
  expect(() => read.list(undeclared)).toThrow("Other is not cached: name it in the controller's watches or reads")
  expect(() => started.manager.informer(undeclared)).toThrow('after the caches were started')
  await started.manager.stop()
})

test('is ready once its caches are filled, and not any more when their watches are silent', async () => {
  const started = new Running(client, namespace, { silenceMillis: 1000 })
  started.manager.addController(thingController)
  expect(started.manager.problems()).toEqual(['the caches have not been started'])
  await started.manager.start()
  expect(started.manager.problems()).toEqual([])
  await eventually(() => started.manager.problems().includes('things: no sign of life from the watch'))
  expect(await started.metric('graphwright_watch_silence_seconds{kind="Thing"}')).toBeGreaterThan(1)
  const stopping = started.manager.stop()
  expect(started.manager.problems()).toEqual(['stopping'])
  await stopping
})

test('waits for a pass at work when it stops, and takes no more', async () => {
  let finish: () => void = () => {}
  const begun = Promise.withResolvers<void>()
  const started = await run(client, namespace, {
    ...thingController,
    concurrency: 1,
    reconcile: async (object, { now }) => {
      begun.resolve()
      await new Promise<void>((resolve) => {
        finish = resolve
      })
      return { status: readyStatus(object, now) }
    },
  })
  await client.create(thing('a', namespace))
  await begun.promise
  await client.create(thing('b', namespace))
  let stopped = false
  const stopping = started.manager.stop().then(() => {
    stopped = true
  })
  await client.get(thingType, { name: 'a', namespace })
  expect(stopped).toBe(false)
  finish()
  await stopping
  expect([await isReady('a'), await isReady('b')]).toEqual([true, false])
})

test('aborts a pass that does not end before the deadline', async () => {
  const begun = Promise.withResolvers<void>()
  const aborted = Promise.withResolvers<void>()
  const started = await run(client, namespace, {
    ...thingController,
    reconcile: (_, { signal }) => {
      begun.resolve()
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          aborted.resolve()
          reject(signal.reason)
        })
      })
    },
  })
  await client.create(thing('a', namespace))
  await begun.promise
  await started.manager.stop(50)
  await aborted.promise
  expect((await client.get(thingType, { name: 'a', namespace })).status).toBeUndefined()
})

test('runs what is added beside the controllers until it stops, and reports its failure', async () => {
  const fatal: unknown[] = []
  const started = new Running(client, namespace, { onFatal: (error) => fatal.push(error) })
  const ended = Promise.withResolvers<void>()
  started.manager.addRunnable('lasting', async (signal) => {
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    ended.resolve()
  })
  started.manager.addRunnable('broken', () => Promise.reject(new Error('port taken')))
  await started.manager.start()
  await eventually(() => fatal.length === 1)
  expect(fatal[0]).toMatchObject({ message: 'port taken' })
  await started.manager.stop()
  await ended.promise
})

test('a mapper with a bug costs its own keys and nothing else', async () => {
  await run(client, namespace, {
    ...thingController,
    watches: [
      {
        type: configMapType,
        keys: () => {
          throw new Error('bug')
        },
      },
    ],
  })
  await client.create(thing('t', namespace, { children: 1 }))
  await eventually(() => isReady('t'))
})

test('every answer of the API server can be counted', async () => {
  const metrics = new Metrics()
  const counted = testClient({ types: testTypes, onAnswer: (method, code) => metrics.requested(method, code) })
  await counted.list(thingType, { namespace })
  await expect(counted.get(thingType, { name: 'absent', namespace })).rejects.toThrow()
  const text = await metrics.registry.metrics()
  expect(text).toContain('rest_client_requests_total{method="GET",code="200"} 1')
  expect(text).toContain('rest_client_requests_total{method="GET",code="404"} 1')
  await counted.transport.close()
})
