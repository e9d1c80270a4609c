import { afterEach, beforeEach, expect, test } from 'vitest'
import type { KubeClient } from '../../../src/kube/client.ts'
import { configMapType, secretType, serviceType } from '../../../src/kube/core-types.ts'
import { Caches } from '../../../src/runtime/caches.ts'
import { Freshness } from '../../../src/runtime/freshness.ts'
import type { Logger } from '../../../src/runtime/log.ts'
import { eventually } from '../../kit/eventually.ts'
import { MisbehavingServer, type Reply } from '../../kit/misbehaving-server.ts'
import { bookmark, clientFor, listOf } from '../kube/support.ts'

let server: MisbehavingServer
let client: KubeClient
const stop = new AbortController()
/** Open watches by their path. */
const open = new Map<string, ReturnType<Reply['stream']>>()
const said: string[] = []
const log = { warn: (_: object, text: string) => said.push(text), info: (_: object, text: string) => said.push(text) }

beforeEach(async () => {
  server = await MisbehavingServer.start(({ path, query }, reply) => {
    if (query.has('watch')) open.set(path, reply.stream())
    else reply.json(200, listOf(1, []))
  })
  client = clientFor(server.url)
})

afterEach(async () => {
  stop.abort()
  await client.transport.close()
  await server.stop()
})

test('a controller does not see what it decides by while a watch that it needs is silent, and says so once', async () => {
  const caches = new Caches({ client, namespaces: ['a', 'b'], silenceMillis: 400 })
  for (const type of [configMapType, secretType, serviceType]) caches.declare(type)
  const watches = [{ type: secretType, keys: () => [] }]
  const freshness = new Freshness({ name: 'test', for: configMapType, watches }, caches, log as unknown as Logger)
  void caches.start(stop.signal)
  await caches.synced()
  await eventually(() => open.size === 6)
  expect([freshness.isFresh('a'), freshness.isFresh('b')]).toEqual([true, true])

  const alive = () => {
    for (const [path, stream] of open)
      if (!path.includes('/a/secrets') && !path.includes('services')) stream.event('BOOKMARK', bookmark(2))
  }
  const heartbeat = setInterval(alive, 50)
  await eventually(() => !freshness.isFresh('a'))
  expect(caches.problemsFor([configMapType, secretType], 'a')).toEqual(['secrets: no sign of life from the watch'])
  // Neither another namespace nor a kind that it does not read is in the way.
  expect([freshness.isFresh('a'), freshness.isFresh('b')]).toEqual([false, true])
  expect(said).toEqual(['caches may be out of date, nothing is done until they are not'])

  open.get('/api/v1/namespaces/a/secrets')?.event('BOOKMARK', bookmark(3))
  await eventually(() => freshness.isFresh('a'))
  expect(said.slice(1)).toEqual(['caches are up to date again, going on'])
  clearInterval(heartbeat)
})
