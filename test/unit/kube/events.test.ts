import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Event } from '../../../src/kube/core-types.ts'
import { EventRecorder } from '../../../src/kube/events.ts'
import { MisbehavingServer } from '../../kit/misbehaving-server.ts'
import { clientFor, configMap } from './support.ts'

let server: MisbehavingServer
let recorder: EventRecorder
let failures: string[]
let now: number
let close: () => Promise<void>

const object = configMap('x', 1)
const record = { type: 'Normal', reason: 'Planned', note: 'Plan x-1 is ready' } as const

beforeEach(async () => {
  server = await MisbehavingServer.start((_request, reply) => reply.json(200, {}))
  const client = clientFor(server.url)
  close = () => client.transport.close()
  failures = []
  now = Date.UTC(2026, 0, 5, 10, 0, 0, 250)
  recorder = new EventRecorder(client, {
    controller: 'graphwright.dev/manager',
    instance: 'manager-0',
    onError: (message, error) => failures.push(`${message}: ${error instanceof Error ? error.message : error}`),
    now: () => new Date(now),
    queueLimit: 30,
  })
})

afterEach(async () => {
  await close()
  await server.stop()
})

const sent = () => server.requests.map(({ method, body }) => ({ method, ...(JSON.parse(body) as Partial<Event>) }))
const posted = () => sent().filter(({ method }) => method === 'POST')
const patched = () => sent().filter(({ method }) => method === 'PATCH')

test('an event as the API server wants it', async () => {
  recorder.record(object, record)
  await recorder.flush()
  expect(server.requests[0]?.path).toBe('/apis/events.k8s.io/v1/namespaces/a/events')
  expect(sent()[0]).toMatchObject({
    eventTime: '2026-01-05T10:00:00.250000Z',
    type: 'Normal',
    reason: 'Planned',
    action: 'Planned',
    note: 'Plan x-1 is ready',
    regarding: { kind: 'ConfigMap', name: 'x', namespace: 'a', uid: 'uid-x' },
    reportingController: 'graphwright.dev/manager',
    reportingInstance: 'manager-0',
  })
})

describe('the same again', () => {
  test('is counted in a series, not written anew', async () => {
    recorder.record(object, record)
    await recorder.flush()
    now += 1_000
    recorder.record(object, record)
    await recorder.flush()
    expect(posted()).toHaveLength(1)
    expect(patched()).toMatchObject([{ series: { count: 2, lastObservedTime: '2026-01-05T10:00:01.250000Z' } }])
  })

  test('many times at once is two writes, and the count is whole', async () => {
    for (let i = 0; i < 20; i++) recorder.record(object, record)
    await recorder.flush()
    expect(posted()).toHaveLength(1)
    expect(patched()).toMatchObject([{ series: { count: 20 } }])
  })

  test.each([
    ['another reason', object, { ...record, reason: 'Applied' }],
    ['another note', object, { ...record, note: 'Plan x-2 is ready' }],
    ['another object', configMap('y', 1), record],
    ['a successor of that name', { ...object, metadata: { ...object.metadata, uid: 'new' } }, record],
  ])('with %s is another event', async (_title, about, what) => {
    recorder.record(object, record)
    recorder.record(about, what)
    await recorder.flush()
    expect(posted()).toHaveLength(2)
  })

  test('after six minutes is another event', async () => {
    recorder.record(object, record)
    now += 6 * 60_000 + 1
    recorder.record(object, record)
    await recorder.flush()
    expect(posted()).toHaveLength(2)
  })

  test('of an event the server has forgotten writes it anew, with its count', async () => {
    server.answer = (request, reply) =>
      request.method === 'PATCH' ? reply.status(404, 'NotFound') : reply.json(200, {})
    recorder.record(object, record)
    recorder.record(object, record)
    await recorder.flush()
    expect(posted().map(({ series }) => series?.count)).toEqual([undefined, 2])
    expect(failures).toEqual([])
  })
})

describe('a flood', () => {
  test('of one object is cut to 25, then one every five minutes; others are not hurt', async () => {
    for (let i = 0; i < 40; i++) recorder.record(object, { ...record, note: `n${i}` })
    recorder.record(configMap('y', 1), record)
    await recorder.flush()
    expect(posted()).toHaveLength(26)
    now += 10 * 60_000
    for (let i = 0; i < 5; i++) recorder.record(object, { ...record, note: `later ${i}` })
    await recorder.flush()
    expect(posted()).toHaveLength(28)
  })

  test('does not fill the memory: the queue has an end, and is told of once', async () => {
    for (let i = 0; i < 40; i++) recorder.record(configMap(`o${i}`, 1), record)
    await recorder.flush()
    expect(posted()).toHaveLength(31)
    expect(failures).toEqual(['too many events were waiting to be written: 9 were dropped: undefined'])
  })
})

test('what the server refuses is reported and dropped, and the next is written', async () => {
  server.answer = (request, reply) =>
    request.body.includes('first') ? reply.status(403, 'Forbidden', 'events is forbidden') : reply.json(200, {})
  recorder.record(object, { ...record, note: 'first' })
  recorder.record(object, { ...record, note: 'second' })
  await recorder.flush()
  expect(failures).toEqual(['an event was not written: events is forbidden'])
  expect(posted().map(({ note }) => note)).toEqual(['first', 'second'])
})

test('a long note is cut to what the server takes, at a character', async () => {
  recorder.record(object, { ...record, note: 'ü'.repeat(600) })
  await recorder.flush()
  const note = sent()[0]?.note ?? ''
  expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1_024)
  expect(note).toMatch(/^ü+…$/)
})

test('an event of a cluster-scoped object lives in the namespace default', async () => {
  recorder.record({ apiVersion: 'v1', kind: 'Namespace', name: 'n', uid: 'u' }, record)
  await recorder.flush()
  expect(sent()[0]?.metadata?.namespace).toBe('default')
})
