import { request as httpsRequest } from 'node:https'
import { describe, expect, it } from 'vitest'
import type { ErrorBody } from '../../../src/api/run-api.ts'
import { ApiError } from '../../../src/gateway/errors.ts'
import { KubeError } from '../../../src/kube/error.ts'
import { digestBytes } from '../../../src/lib/digest.ts'
import { createLogger } from '../../../src/runtime/log.ts'
import { type LocalGateway, OneRun, startLocalGateway } from '../../kit/local-gateway.ts'

interface Answer {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly body: Buffer
}

interface Call {
  readonly method?: string
  readonly token?: string
  readonly body?: Buffer | string
  /** Sent piece by piece without a Content-Length. */
  readonly pieces?: readonly Buffer[]
}

function call(gateway: LocalGateway, path: string, what: Call = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = what.token === undefined ? {} : { authorization: `Bearer ${what.token}` }
    const options = { method: what.method ?? 'GET', ca: gateway.certificates.ca.cert, headers, agent: false as const }
    const outgoing = httpsRequest(new URL(path, gateway.url), options, async (incoming) => {
      const chunks: Buffer[] = []
      for await (const chunk of incoming) chunks.push(chunk)
      resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: Buffer.concat(chunks) })
    })
    outgoing.on('error', reject)
    for (const piece of what.pieces ?? []) outgoing.write(piece)
    outgoing.end(what.body)
  })
}

const errorOf = (answer: Answer) => (JSON.parse(answer.body.toString()) as ErrorBody).error

describe('gateway', () => {
  it('asks for a token before it reads a body', async () => {
    const gateway = await startLocalGateway()
    const without = await call(gateway, '/runs/v1/self')
    expect(without.status).toBe(401)
    expect(without.headers['www-authenticate']).toBe('Bearer')
    expect(errorOf(without)).toMatchObject({ type: 'auth.invalid_token', code: 'token_missing' })
    const wrong = await call(gateway, '/runs/v1/self/result', { method: 'POST', token: 'nobody', body: 'no json' })
    expect(errorOf(wrong)).toMatchObject({ type: 'auth.invalid_token', code: 'token_rejected' })
  })

  it('gives every answer a request id, and errors the same one', async () => {
    const gateway = await startLocalGateway()
    const good = await call(gateway, '/runs/v1/self', { token: 'pod-token' })
    expect(good.status).toBe(200)
    expect(good.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    const bad = await call(gateway, '/nowhere', { token: 'pod-token' })
    expect(bad.status).toBe(404)
    expect(errorOf(bad).requestId).toBe(bad.headers['x-request-id'])
  })

  it('hands out the frozen input', async () => {
    const runs = new OneRun({ prompt: 'look', event: { items: [1] }, bindings: { severity: '"high"' } })
    const gateway = await startLocalGateway({ runs })
    const answer = await call(gateway, '/runs/v1/self', { token: 'pod-token' })
    expect(JSON.parse(answer.body.toString())).toEqual(runs.input)
  })

  it('records a result once: the same again is answered with the record, another one is a conflict', async () => {
    const gateway = await startLocalGateway()
    const report = (output: string) =>
      call(gateway, '/runs/v1/self/result', { method: 'POST', token: 'pod-token', body: JSON.stringify({ output }) })
    const first = await report('done')
    expect(first.status).toBe(200)
    expect(JSON.parse(first.body.toString())).toMatchObject({ digest: digestBytes('done'), size: 4 })
    expect((await report('done')).body).toEqual(first.body)
    const other = await report('something else')
    expect(other.status).toBe(409)
    expect(errorOf(other).type).toBe('validation.conflict')
  })

  it.each([
    ['no JSON', Buffer.from('{"output": '), 'invalid_json'],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'invalid_json'],
    ['half a surrogate pair', Buffer.from('{"output": "\\ud800"}'), 'output_malformed'],
    ['an unknown error code', Buffer.from('{"error": "it_broke"}'), 'report_malformed'],
    ['both at once', Buffer.from('{"output": "", "error": "output_not_utf8"}'), 'report_malformed'],
    ['neither', Buffer.from('{}'), 'report_malformed'],
  ])('refuses a report that is %s', async (_name, body, code) => {
    const runs = new OneRun()
    const gateway = await startLocalGateway({ runs })
    const answer = await call(gateway, '/runs/v1/self/result', { method: 'POST', token: 'pod-token', body })
    expect(answer.status).toBe(400)
    expect(errorOf(answer)).toMatchObject({ type: 'validation.invalid', code })
    expect(runs.recorded).toBeUndefined()
  })

  it('takes an output of 1 MiB and not one byte more, escapes not counted', async () => {
    const gateway = await startLocalGateway()
    const report = (output: string) =>
      call(gateway, '/runs/v1/self/result', { method: 'POST', token: 'pod-token', body: JSON.stringify({ output }) })
    const full = '\u0001'.repeat(1024 * 1024)
    expect(errorOf(await report(`${full}x`))).toMatchObject({ code: 'output_too_large' })
    expect(JSON.parse((await report(full)).body.toString())).toMatchObject({ size: 1024 * 1024 })
  })

  it('counts a body while it streams in, whatever its length is said to be', async () => {
    const gateway = await startLocalGateway()
    const pieces = Array.from({ length: 9 }, () => Buffer.alloc(1024 * 1024, 'a'))
    const digest = digestBytes(Buffer.concat(pieces))
    const answer = await call(gateway, `/internal/v1/blobs/${digest}`, {
      method: 'PUT',
      token: 'manager-token',
      pieces,
    })
    expect(answer.status).toBe(413)
    expect(errorOf(answer)).toMatchObject({ type: 'validation.payload_too_large', code: 'body_too_large' })
  })

  it('keeps contents for the manager and for nobody else', async () => {
    const gateway = await startLocalGateway()
    const body = Buffer.from('{"large": true}')
    const path = `/internal/v1/blobs/${digestBytes(body)}`
    const byPod = await call(gateway, path, { method: 'PUT', token: 'pod-token', body })
    expect(byPod.status).toBe(403)
    expect(errorOf(byPod)).toMatchObject({ type: 'auth.forbidden', code: 'manager_only' })
    expect((await call(gateway, path, { token: 'manager-token' })).status).toBe(404)
    expect((await call(gateway, path, { method: 'PUT', token: 'manager-token', body })).status).toBe(204)
    expect((await call(gateway, path, { token: 'manager-token' })).body).toEqual(body)
    const other = await call(gateway, path, { method: 'PUT', token: 'manager-token', body: 'other' })
    expect(errorOf(other)).toMatchObject({ type: 'validation.conflict', code: 'digest_mismatch' })
  })

  it('says when to come again, and hides what went wrong inside', async () => {
    const runs = new OneRun()
    runs.trouble.push(
      new ApiError('run.not_recorded', 'pod_not_recorded', 'not yet', { retryAfterSeconds: 1 }),
      new KubeError({ status: 0, reason: 'Unreachable', message: 'connect ECONNREFUSED 10.96.0.1:443' }),
      new Error('secret-sauce'),
    )
    const gateway = await startLocalGateway({ runs })
    const early = await call(gateway, '/runs/v1/self', { token: 'pod-token' })
    expect([early.status, early.headers['retry-after']]).toEqual([425, '1'])
    const noServer = await call(gateway, '/runs/v1/self', { token: 'pod-token' })
    expect([noServer.status, errorOf(noServer).type]).toEqual([503, 'gateway.unavailable'])
    const broken = await call(gateway, '/runs/v1/self', { token: 'pod-token' })
    expect([broken.status, errorOf(broken).type]).toEqual([500, 'gateway.internal'])
    expect(`${noServer.body}${broken.body}`).not.toMatch(/10\.96\.0\.1|secret-sauce/)
  })

  it('never writes a token to its log', async () => {
    const lines: string[] = []
    const runs = new OneRun()
    runs.trouble.push(new Error('bug'))
    const log = createLogger({ level: 'debug', write: (line) => lines.push(line) })
    const gateway = await startLocalGateway({ runs, log })
    await call(gateway, '/runs/v1/self', { token: 'pod-token' })
    await call(gateway, '/runs/v1/self', { token: 'stolen-token' })
    await call(gateway, '/internal/v1/blobs/x', { token: 'pod-token' })
    expect(lines.join('')).toContain('request failed')
    expect(lines.join('')).not.toMatch(/pod-token|stolen-token/)
  })
})
