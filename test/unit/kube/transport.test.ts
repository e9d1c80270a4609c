import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { isUnavailable, KubeError } from '../../../src/kube/error.ts'
import { applyPatch } from '../../../src/kube/request.ts'
import type { TimedAnswer } from '../../../src/kube/server-clock.ts'
import { Transport, type TransportOptions } from '../../../src/kube/transport.ts'
import { version } from '../../../src/lib/version.ts'
import { eventually } from '../../kit/eventually.ts'
import { MisbehavingServer, type Reply } from '../../kit/misbehaving-server.ts'
import { configFor } from './support.ts'

let server: MisbehavingServer
const open: Transport[] = []

beforeEach(async () => {
  server = await MisbehavingServer.start((_request, reply) => reply.json(200, { ok: true }))
})

afterEach(async () => {
  for (const transport of open.splice(0)) await transport.close()
  await server.stop()
})

function transportTo(
  url = server.url,
  options: TransportOptions = {},
  user: object = {},
  cluster: object = {},
): Transport {
  const transport = new Transport(configFor(url, user, cluster), options)
  open.push(transport)
  return transport
}

async function failure(promise: Promise<unknown>): Promise<KubeError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof KubeError) return error
  throw new Error(`not a KubeError: ${error}`)
}

/** Answers requests in turn, the last answer for all that follow. */
function inTurn(...answers: ((reply: Reply) => void)[]): void {
  let count = 0
  server.answer = (_request, reply) => answers[Math.min(count++, answers.length - 1)]?.(reply)
}

const fine = (reply: Reply) => reply.json(200, { ok: true })

describe('a request', () => {
  test('says who asks and what it takes', async () => {
    await transportTo().request({
      path: '/api/v1/pods',
      query: { limit: 500, continue: undefined, labelSelector: 'a=b,c' },
    })
    const [request] = server.requests
    expect(request?.headers).toMatchObject({ 'user-agent': `graphwright/${version}`, accept: 'application/json' })
    expect(request?.target).toBe('/api/v1/pods?limit=500&labelSelector=a%3Db%2Cc')
  })

  test('a body goes as JSON, with the content type asked for', async () => {
    await transportTo().request({ method: 'PATCH', path: '/x', body: { a: 'ü' }, contentType: applyPatch })
    expect(server.requests[0]).toMatchObject({ method: 'PATCH', body: '{"a":"ü"}' })
    expect(server.requests[0]?.headers['content-type']).toBe(applyPatch)
  })

  test('a path in the server address is kept', async () => {
    await transportTo(`${server.url}/k8s/clusters/c-1/`).request({ path: '/version' })
    expect(server.requests[0]?.path).toBe('/k8s/clusters/c-1/version')
  })

  test('connections are kept for the next one', async () => {
    const sockets = new Set<unknown>()
    server.answer = (_request, reply) => {
      sockets.add(reply.socket)
      fine(reply)
    }
    const transport = transportTo()
    for (let i = 0; i < 20; i++) await transport.request({ path: '/x' })
    // The first connection may still be finishing when the second request asks for one.
    expect(sockets.size).toBeLessThanOrEqual(2)
  })

  test('no more than the cap are under way at one time, and streams do not count', async () => {
    const held: Reply[] = []
    let streams = 0
    server.answer = (request, reply) => {
      if (request.path === '/watch') {
        streams++
        reply.stream()
      } else held.push(reply)
    }
    const transport = transportTo(server.url, { maxConcurrency: 3 })
    for (let i = 0; i < 5; i++) await transport.stream({ path: '/watch' })
    const all = Array.from({ length: 8 }, () => transport.request({ path: '/x' }))
    await eventually(() => held.length === 3)
    expect(streams).toBe(5)
    let most = 0
    while (held.length > 0) {
      most = Math.max(most, held.length)
      fine(held.shift() as Reply)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    await Promise.all(all)
    expect(most).toBe(3)
  })

  test('waiting for a slot ends with the signal', async () => {
    server.answer = () => {}
    const transport = transportTo(server.url, { maxConcurrency: 1 })
    const stop = new AbortController()
    const first = transport.request({ path: '/x', signal: stop.signal })
    const second = transport.request({ path: '/x', signal: stop.signal })
    stop.abort(new Error('shutting down'))
    await expect(first).rejects.toThrow('shutting down')
    await expect(second).rejects.toThrow('shutting down')
    server.answer = (_request, reply) => fine(reply)
    await transport.request({ path: '/x' })
  })

  test('the time of the server is told with every answer, refusals among them', async () => {
    const date = 'Mon, 05 Jan 2026 10:00:00 GMT'
    const told: TimedAnswer[] = []
    inTurn(
      (reply) => reply.json(200, {}, { date }),
      (reply) => reply.json(404, {}, { date }),
    )
    const transport = transportTo(server.url, { onTime: (answer) => told.push(answer) })
    const before = performance.now()
    await transport.request({ path: '/x' })
    await transport.request({ path: '/x' }).catch(() => {})
    const after = performance.now()
    expect(told.map((answer) => answer.date)).toEqual([Date.UTC(2026, 0, 5, 10), Date.UTC(2026, 0, 5, 10)])
    const instants = told.flatMap(({ sentAt, receivedAt }) => [sentAt, receivedAt])
    expect([before, ...instants, after]).toEqual([before, ...instants, after].toSorted((a, b) => a - b))
  })
})

describe('errors', () => {
  test('a refusal carries what the server said', async () => {
    const body = {
      kind: 'Status',
      code: 409,
      reason: 'AlreadyExists',
      message: 'configmaps "x" already exists',
      details: { name: 'x', kind: 'configmaps' },
    }
    inTurn((reply) => reply.json(409, body))
    const ref = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'a', name: 'x' }
    const error = await failure(transportTo().request({ method: 'POST', path: '/x', body: {}, ref }))
    expect(error).toMatchObject({
      status: 409,
      reason: 'AlreadyExists',
      message: body.message,
      details: body.details,
      ref,
    })
  })

  test('an answer of a load balancer is told apart, without its page', async () => {
    inTurn((reply) => reply.json(502, '<html>session=secret</html>'))
    const error = await failure(transportTo().request({ path: '/x' }))
    expect(error.message).toBe(`GET /x: the API server at ${server.url} answered 502 Unknown`)
    expect(isUnavailable(error)).toBe(true)
  })

  test('an answer that is no JSON', async () => {
    inTurn((reply) => reply.json(200, 'hello'))
    const error = await failure(transportTo().request({ path: '/x' }))
    expect(error.message).toContain('is it a Kubernetes API server?')
  })

  test('a refused connection names the server and what to look at', async () => {
    const { url } = server
    await server.stop()
    const error = await failure(transportTo(url).request({ path: '/x' }))
    expect(error).toMatchObject({ status: 0, reason: 'Unreachable' })
    expect(error.message).toBe(`cannot reach the API server at ${url}: connection refused; is the cluster running?`)
    await server.listen()
  })

  test('401 says what to do, and never shows the token', async () => {
    inTurn((reply) => reply.status(401, 'Unauthorized'))
    const transport = transportTo(server.url, {}, { token: 'hunter2' })
    const error = await failure(transport.request({ path: '/x' }))
    expect(error.message).toContain('does not accept these credentials')
    expect(JSON.stringify({ ...error, text: String(error), stack: error.stack })).not.toContain('hunter2')
  })
})

describe('time limits', () => {
  test('no answer', async () => {
    server.answer = () => {}
    const error = await failure(transportTo(server.url, { timeoutMillis: 100 }).request({ path: '/x' }))
    expect(error).toMatchObject({ status: 0, reason: 'Unreachable' })
  })

  test('an answer that drips for ever', async () => {
    server.answer = (_request, reply) => {
      reply.stream()
      const timer = setInterval(() => reply.piece(' '), 20)
      reply.socket.on('close', () => clearInterval(timer))
    }
    const error = await failure(transportTo(server.url, { timeoutMillis: 100 }).request({ path: '/x' }))
    expect(error.message).toContain('no answer within 100 ms')
  })

  test('an answer that is larger than the limit is not read to its end', async () => {
    let sent = 0
    server.answer = (_request, reply) => {
      reply.stream()
      const timer = setInterval(() => {
        reply.piece('x'.repeat(1_000))
        sent += 1_000
      }, 1)
      reply.socket.on('close', () => clearInterval(timer))
    }
    const error = await failure(transportTo(server.url, { maxBodyBytes: 5_000 }).request({ path: '/x' }))
    expect(error.reason).toBe('ResponseTooLarge')
    expect(sent).toBeLessThan(100_000)
  })

  test('an abort by the caller is the caller’s own reason, in every phase', async () => {
    const phases: ((reply: Reply) => void)[] = [() => {}, (reply) => reply.stream().piece('{')]
    for (const phase of phases) {
      const stop = new AbortController()
      server.answer = (_request, reply) => {
        phase(reply)
        setTimeout(() => stop.abort(new Error('enough')), 20)
      }
      await expect(transportTo().request({ path: '/x', signal: stop.signal })).rejects.toThrow('enough')
    }
  })
})

describe('trying again', () => {
  test('an overloaded server is asked again after the time it names', async () => {
    inTurn((reply) => reply.status(429, 'TooManyRequests', 'slow down', { 'retry-after': '1' }), fine)
    const begun = performance.now()
    await transportTo().request({ method: 'POST', path: '/x', body: {} })
    expect(performance.now() - begun).toBeGreaterThanOrEqual(1_000)
    expect(server.requests).toHaveLength(2)
  })

  test('the wait ends with the signal', async () => {
    inTurn((reply) => reply.status(503, 'ServiceUnavailable', 'starting', { 'retry-after': '5' }))
    const stop = new AbortController()
    const request = transportTo().request({ path: '/x', signal: stop.signal })
    await eventually(() => server.requests.length === 1)
    stop.abort(new Error('enough'))
    await expect(request).rejects.toThrow('enough')
  })

  test.each([
    ['without a time', {}],
    ['with a time that is too long to wait for', { 'retry-after': '60' }],
  ])('429 %s is the caller’s to handle', async (_title, headers) => {
    inTurn((reply) => reply.status(429, 'TooManyRequests', 'slow down', headers))
    const error = await failure(transportTo().request({ path: '/x' }))
    expect(error.status).toBe(429)
    expect(server.requests).toHaveLength(1)
  })

  test.each([
    ['GET is sent twice', { path: '/x' }, 2],
    ['server-side apply is sent twice', { method: 'PATCH', path: '/x', body: {}, contentType: applyPatch } as const, 2],
    ['POST, which may have been carried out, is sent once', { method: 'POST', path: '/x', body: {} } as const, 1],
    [
      'JSON patch is sent once',
      { method: 'PATCH', path: '/x', body: [], contentType: 'application/json-patch+json' } as const,
      1,
    ],
  ])('after a reset, %s', async (_title, request, times) => {
    inTurn((reply) => reply.reset())
    const error = await failure(transportTo().request(request))
    expect(error).toMatchObject({ status: 0, reason: 'Unreachable' })
    expect(server.requests).toHaveLength(times)
  })

  test('a kept-alive connection that the server has just closed is no error for a GET', async () => {
    inTurn(fine, (reply) => reply.reset(), fine)
    const transport = transportTo()
    await transport.request({ path: '/x' })
    await transport.request({ path: '/x' })
    expect(server.requests).toHaveLength(3)
  })
})
