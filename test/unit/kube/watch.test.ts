import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { KubeClient } from '../../../src/kube/client.ts'
import { type ConfigMap, configMapType } from '../../../src/kube/core-types.ts'
import { Informer, type WatchRestartReason } from '../../../src/kube/informer.ts'
import type { WatchTiming } from '../../../src/kube/pacing.ts'
import type { Change } from '../../../src/kube/store.ts'
import { eventually } from '../../kit/eventually.ts'
import { MisbehavingServer, type Reply, type SeenRequest } from '../../kit/misbehaving-server.ts'
import { bookmark, clientFor, configMap, listOf } from './support.ts'

const timing: WatchTiming = {
  idleTimeoutMillis: 5_000,
  longestWatchSeconds: 480,
  firstBackoffMillis: 5,
  longestBackoffMillis: 20,
  forgetAfterMillis: 1_000,
  establishedAfterMillis: 30,
}

/** What the server does with the n-th list and the n-th watch; the last of each repeats. */
interface Script {
  lists: ((reply: Reply, request: SeenRequest) => void)[]
  watches: ((reply: Reply, request: SeenRequest) => void)[]
}

let server: MisbehavingServer
let client: KubeClient
let stop: AbortController
let restarts: WatchRestartReason[]
let changes: Change<ConfigMap>[]

beforeEach(async () => {
  server = await MisbehavingServer.start(() => {})
  client = clientFor(server.url)
  stop = new AbortController()
  restarts = []
  changes = []
})

afterEach(async () => {
  stop.abort()
  await client.transport.close()
  await server.stop()
})

function play(script: Script): void {
  const counts = { lists: 0, watches: 0 }
  server.answer = (request, reply) => {
    const kind = request.query.has('watch') ? 'watches' : 'lists'
    const steps = script[kind]
    steps[Math.min(counts[kind]++, steps.length - 1)]?.(reply, request)
  }
}

function informer(overrides: Partial<WatchTiming> = {}): Informer<ConfigMap> {
  const started = new Informer(client, configMapType, {
    timing: { ...timing, ...overrides },
    onRestart: (reason) => restarts.push(reason),
    freeze: true,
  })
  started.onChange((change) => changes.push(change))
  void started.start(stop.signal)
  return started
}

const quiet = (reply: Reply) => void reply.stream()
const watches = () => server.requests.filter((request) => request.query.has('watch'))
const lists = () => server.requests.filter((request) => !request.query.has('watch'))
const versionsAsked = () => watches().map((request) => request.query.get('resourceVersion'))
const summary = () => changes.map(({ type, key, object }) => `${type} ${key} ${object.metadata.resourceVersion}`)

describe('in order', () => {
  test('a list fills the store, and a watch from its version keeps it', async () => {
    play({
      lists: [(reply) => reply.json(200, listOf(10, [configMap('x', 5), configMap('y', 7)]))],
      watches: [
        (reply) =>
          reply
            .stream()
            .event('ADDED', configMap('z', 11))
            .event('MODIFIED', configMap('x', 12))
            .event('DELETED', configMap('y', 13)),
      ],
    })
    const { store, synced } = informer()
    await synced
    expect(changes.map(({ initial }) => initial)).toEqual([true, true])
    await eventually(() => changes.length === 5)
    expect(summary().slice(2)).toEqual(['added a/z 11', 'updated a/x 12', 'deleted a/y 13'])
    expect(changes.slice(2).every(({ initial }) => !initial)).toBe(true)
    expect(changes[3]?.old?.metadata.resourceVersion).toBe('5')
    expect(store.list().map(({ metadata }) => metadata.name)).toEqual(['z', 'x'])
    expect(store.get('a/x')).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', data: { value: '12' } })
    expect(watches()[0]?.query.get('allowWatchBookmarks')).toBe('true')
    expect(versionsAsked()).toEqual(['10'])
  })

  test('a list of several pages is one list, and its version is the snapshot', async () => {
    play({
      lists: [
        (reply) => reply.json(200, listOf(10, [configMap('x', 5)], 'more')),
        (reply) => reply.json(200, listOf(10, [configMap('y', 6)])),
      ],
      watches: [quiet],
    })
    const { store, synced } = informer()
    await synced
    expect(store.size).toBe(2)
    expect(lists().map((request) => request.query.get('continue'))).toEqual([null, 'more'])
    expect(lists()[0]?.query.get('limit')).toBe('500')
    expect(lists()[0]?.query.has('resourceVersion')).toBe(false)
  })

  test('a bookmark moves the version from which the watch resumes, and nothing else', async () => {
    play({
      lists: [(reply) => reply.json(200, listOf(10, [configMap('x', 5)]))],
      watches: [(reply) => reply.stream().event('BOOKMARK', bookmark(40)).end(), quiet],
    })
    const started = informer()
    await eventually(() => watches().length === 2)
    expect(versionsAsked()).toEqual(['10', '40'])
    expect(started.observedVersion).toBe(40n)
    expect(summary()).toEqual(['added a/x 5'])
  })

  test('it ends when the signal aborts, and only then', async () => {
    play({ lists: [(reply) => reply.json(200, listOf(10, []))], watches: [quiet] })
    const local = new AbortController()
    const started = new Informer(client, configMapType, { timing })
    const running = started.start(local.signal)
    await eventually(() => watches().length === 1)
    local.abort()
    await running
    await expect(started.start(local.signal)).rejects.toThrow(/runs already/)
  })
})

describe('the stream is cut', () => {
  test('half a line at the end is dropped and asked for again', async () => {
    const line = `${JSON.stringify({ type: 'ADDED', object: configMap('z', 12) })}\n`
    play({
      lists: [(reply) => reply.json(200, listOf(10, []))],
      watches: [
        (reply) => reply.stream().event('ADDED', configMap('y', 11)).piece(line.slice(0, 40)).end(),
        (reply) => reply.stream().piece(line),
      ],
    })
    informer()
    await eventually(() => changes.length === 2)
    expect(versionsAsked()).toEqual(['10', '11'])
    expect(lists()).toHaveLength(1)
    expect(summary()).toEqual(['added a/y 11', 'added a/z 12'])
  })

  test('a character cut between two chunks arrives whole', async () => {
    const bytes = Buffer.from(`${JSON.stringify({ type: 'ADDED', object: configMap('z', 12, 'Grüße 🦊 世界') })}\n`)
    play({
      lists: [(reply) => reply.json(200, listOf(10, []))],
      watches: [
        (reply) => {
          reply.stream()
          for (const byte of bytes) reply.piece(Uint8Array.of(byte))
        },
      ],
    })
    const { store } = informer()
    await eventually(() => store.get('a/z') !== undefined)
    expect(store.get('a/z')?.data?.value).toBe('Grüße 🦊 世界')
  })

  test('after a reset the watch resumes from its last version without a new list', async () => {
    play({
      lists: [(reply) => reply.json(200, listOf(10, []))],
      watches: [
        (reply) => {
          reply.stream().event('ADDED', configMap('y', 11))
          setTimeout(() => reply.reset(), 50)
        },
        (reply) => reply.stream().event('ADDED', configMap('z', 12)),
      ],
    })
    informer()
    await eventually(() => changes.length === 2)
    expect(restarts).toEqual(['reset'])
    expect(versionsAsked()).toEqual(['10', '11'])
    expect(lists()).toHaveLength(1)
  })

  test('a server that ends every watch at once is not stormed', async () => {
    play({
      lists: [(reply) => reply.json(200, listOf(10, []))],
      watches: [(reply) => reply.stream().end()],
    })
    informer({ firstBackoffMillis: 100, longestBackoffMillis: 1_000 })
    await eventually(() => watches().length >= 2)
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(watches().length).toBeLessThan(12)
  })

  test('silence is answered with a new list: the watch may be on a dead connection', async () => {
    play({
      lists: [
        (reply) => reply.json(200, listOf(10, [configMap('x', 5)])),
        (reply) => reply.json(200, listOf(20, [configMap('y', 15)])),
      ],
      watches: [quiet],
    })
    const { store } = informer({ idleTimeoutMillis: 150 })
    await eventually(() => store.get('a/y') !== undefined, { timeout: 3_000 })
    expect(restarts[0]).toBe('idle')
    expect(store.get('a/x')).toBeUndefined()
    expect(summary()).toEqual(['added a/x 5', 'deleted a/x 5', 'added a/y 15'])
  })

  test('after a refused connection it lists again: the server may have been restored to an older state', async () => {
    play({
      lists: [
        (reply) => reply.json(200, listOf(1000, [configMap('x', 900)])),
        (reply) => reply.json(200, listOf(10, [configMap('x', 5), configMap('y', 6)])),
      ],
      watches: [quiet],
    })
    const started = informer()
    await eventually(() => watches().length === 1)
    await server.stop()
    await eventually(() => restarts.includes('refused'))
    expect(started.problem).toMatch(/cannot reach the API server/)
    await server.listen()
    await eventually(() => watches().length === 2)
    expect(versionsAsked()).toEqual(['1000', '10'])
    expect(started.store.get('a/x')?.metadata.resourceVersion).toBe('5')
    expect(started.observedVersion).toBe(10n)
    expect(started.problem).toBeUndefined()
  })
})

describe('the server repeats itself', () => {
  test('an event twice, or an older one after a newer, changes nothing', async () => {
    play({
      lists: [(reply) => reply.json(200, listOf(10, [configMap('x', 5)]))],
      watches: [
        (reply) =>
          reply
            .stream()
            .event('MODIFIED', configMap('x', 11))
            .event('MODIFIED', configMap('x', 11))
            .event('MODIFIED', configMap('x', 7))
            .event('DELETED', configMap('x', 8))
            .event('DELETED', configMap('never-seen', 9))
            .event('ADDED', configMap('last', 12)),
      ],
    })
    informer()
    await eventually(() => changes.some(({ key }) => key === 'a/last'))
    expect(summary()).toEqual(['added a/x 5', 'updated a/x 11', 'added a/last 12'])
  })

  test('an object deleted and created again between two lists is both', async () => {
    const successor = { ...configMap('x', 20), metadata: { ...configMap('x', 20).metadata, uid: 'another' } }
    play({
      lists: [
        (reply) => reply.json(200, listOf(10, [configMap('x', 5)])),
        (reply) => reply.json(200, listOf(21, [successor])),
      ],
      watches: [(reply) => reply.status(410, 'Expired'), quiet],
    })
    informer()
    await eventually(() => changes.length === 3)
    expect(summary()).toEqual(['added a/x 5', 'deleted a/x 5', 'added a/x 20'])
  })
})

describe('the server refuses', () => {
  const relisted = [
    (reply: Reply) => reply.json(200, listOf(10, [configMap('x', 5), configMap('y', 6)])),
    (reply: Reply) => reply.json(200, listOf(90, [configMap('y', 80)])),
  ]
  const expired = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version: 10 (50)' }

  test.each<[string, WatchRestartReason, (reply: Reply) => void]>([
    ['410 in place of a watch', 'expired', (reply) => reply.status(410, 'Gone')],
    ['410 inside a watch', 'expired', (reply) => reply.stream().event('ERROR', expired)],
    ['410 and then the end of the stream', 'expired', (reply) => reply.stream().event('ERROR', expired).end()],
    [
      'another error inside a watch',
      'error',
      (reply) => reply.stream().event('ERROR', { ...expired, code: 500, reason: '' }),
    ],
    ['a line that is no JSON', 'error', (reply) => reply.stream().piece('{"type":"ADD\n')],
    ['a line that is no event', 'error', (reply) => reply.stream().piece('[]\n')],
    [
      'a version from the future',
      'future',
      (reply) => reply.status(504, 'Timeout', 'Too large resource version: 10, current: 4'),
    ],
    ['a broken server', 'error', (reply) => reply.status(500, 'InternalError')],
    ['credentials that ran out', 'unauthorized', (reply) => reply.status(401, 'Unauthorized')],
  ])('%s: a new list, and the difference to it', async (_title, reason, refuse) => {
    let refused = 0
    play({
      lists: relisted,
      // A 401 is tried again at once with new credentials, by the transport.
      watches: [refuse, (reply) => (reason === 'unauthorized' && refused++ === 0 ? refuse(reply) : quiet(reply))],
    })
    const { store } = informer()
    await eventually(() => store.get('a/x') === undefined && store.size === 1)
    expect(restarts).toEqual([reason])
    expect(summary()).toEqual(['added a/x 5', 'added a/y 6', 'deleted a/x 5', 'updated a/y 80'])
    expect(changes.at(-1)?.initial).toBe(false)
    await eventually(() => versionsAsked().at(-1) === '90')
  })

  test('403: it says so, and asks again slowly', async () => {
    let allowed = false
    play({
      lists: [
        (reply) =>
          allowed ? reply.json(200, listOf(10, [])) : reply.status(403, 'Forbidden', 'configmaps is forbidden'),
      ],
      watches: [quiet],
    })
    const started = informer({ firstBackoffMillis: 1, longestBackoffMillis: 100 })
    await eventually(() => started.problem !== undefined)
    expect(started.problem).toBe('configmaps: configmaps is forbidden')
    await new Promise((resolve) => setTimeout(resolve, 120))
    expect(lists().length).toBeLessThanOrEqual(4)
    allowed = true
    await started.synced
    expect(started.problem).toBeUndefined()
  })

  test('429: it waits and resumes, without the load of a new list', async () => {
    play({
      lists: [(reply) => reply.json(200, listOf(10, []))],
      watches: [(reply) => reply.status(429, 'TooManyRequests'), quiet],
    })
    informer()
    await eventually(() => watches().length === 2)
    expect(restarts).toEqual(['overloaded'])
    expect(lists()).toHaveLength(1)
    expect(versionsAsked()).toEqual(['10', '10'])
  })

  test('a page that expired while listing: the list begins anew', async () => {
    play({
      lists: [
        (reply) => reply.json(200, listOf(10, [configMap('x', 5)], 'more')),
        (reply) => reply.status(410, 'Expired', 'The provided continue parameter is too old'),
        (reply) => reply.json(200, listOf(30, [configMap('y', 25)])),
      ],
      watches: [quiet],
    })
    const { store, synced } = informer()
    await synced
    expect(store.list().map(({ metadata }) => metadata.name)).toEqual(['y'])
    expect(summary()).toEqual(['added a/y 25'])
  })
})

test('whatever goes wrong, in any order, the store ends equal to the server', async () => {
  const world = new Map<string, ConfigMap>()
  const log: { type: string; object: ConfigMap }[] = []
  let version = 100
  let compacted = 100
  let random = 12_345
  const dice = (sides: number) => {
    random = (random * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((random / 2_147_483_648) * sides)
  }
  const open = new Set<Reply>()
  const write = () => {
    const name = `n${dice(12)}`
    const object = configMap(name, ++version)
    const type = world.has(name) ? (dice(3) === 0 ? 'DELETED' : 'MODIFIED') : 'ADDED'
    if (type === 'DELETED') world.delete(name)
    else world.set(name, object)
    log.push({ type, object })
    for (const reply of open) reply.event(type, object)
  }
  const faults: Record<string, (reply: Reply) => void> = {
    reset: (reply) => reply.reset(),
    halfALine: (reply) => reply.piece('{"type":"ADDED","obj').end(),
    expired: (reply) => reply.event('ERROR', { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' }),
    compacted: (reply) => {
      compacted = version
      reply.end()
    },
    repeated: (reply) => reply.event('MODIFIED', configMap([...world.keys()][0] ?? 'n0', 90)).end(),
    silence: () => {},
  }
  server.answer = (request, reply) => {
    if (!request.query.has('watch')) return reply.json(200, listOf(version, structuredClone([...world.values()])))
    const from = Number(request.query.get('resourceVersion'))
    if (from < compacted) return reply.status(410, 'Expired')
    open.add(reply.stream())
    for (const { type, object } of log) if (Number(object.metadata.resourceVersion) > from) reply.event(type, object)
  }

  const { store, synced } = informer({ idleTimeoutMillis: 100 })
  await synced
  const kinds = ['reset', 'halfALine', 'expired', 'compacted', 'repeated']
  const order = [...Array.from({ length: 40 }, () => kinds[dice(kinds.length)] ?? ''), 'silence', 'reset']
  for (const fault of order) {
    await eventually(() => {
      write()
      return open.size > 0 && dice(4) === 0
    })
    const [reply] = open
    open.clear()
    if (reply !== undefined) faults[fault]?.(reply)
  }
  await eventually(() => expect(versionsOf(store.list())).toEqual(versionsOf([...world.values()])), { timeout: 5_000 })
  expect(restarts.length).toBeGreaterThanOrEqual(order.length)

  const replayed = new Map<string, string | undefined>()
  for (const { type, key, object } of changes) {
    if (type === 'added') expect(replayed.has(key)).toBe(false)
    else expect(replayed.has(key)).toBe(true)
    if (type === 'deleted') replayed.delete(key)
    else replayed.set(key, object.metadata.resourceVersion)
  }
  expect([...replayed].sort()).toEqual(versionsOf([...world.values()]))
})

function versionsOf(items: readonly { metadata: { name: string; resourceVersion?: string } }[]) {
  return items.map(({ metadata }) => [`a/${metadata.name}`, metadata.resourceVersion]).sort()
}
