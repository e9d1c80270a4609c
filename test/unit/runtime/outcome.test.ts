import { expect, test } from 'vitest'
import { KubeError } from '../../../src/kube/error.ts'
import { classify } from '../../../src/runtime/outcome.ts'
import { Terminal, Wait } from '../../../src/runtime/result.ts'

const ref = { apiVersion: 'batch/v1', kind: 'Job', namespace: 'a', name: 'job-1' }

function refusal(status: number, reason: string, more: object = {}) {
  return new KubeError({ status, reason, message: `Job job-1: no, at 2026-11-30T12:00:00Z (${reason})`, ref, ...more })
}

test('a wait and a terminal error carry their reason and message', () => {
  expect(classify(new Wait('AgentMissing', 'create it', 500))).toEqual({
    kind: 'waiting',
    failure: { kind: 'waiting', reason: 'AgentMissing', message: 'create it' },
    afterMillis: 500,
  })
  expect(classify(new Terminal('NameConflict', 'rename it', 700))).toEqual({
    kind: 'stalled',
    failure: { kind: 'stalled', reason: 'NameConflict', message: 'rename it' },
    afterMillis: 700,
  })
})

test('a conflict is a lost race; a taken name is not', () => {
  expect(classify(refusal(409, 'Conflict'))).toEqual({ kind: 'conflict' })
  expect(classify(refusal(409, 'AlreadyExists')).kind).toBe('error')
})

test('an overloaded server says when to come back', () => {
  for (const status of [429, 503]) {
    expect(classify(refusal(status, 'TooManyRequests', { retryAfterSeconds: 7 }))).toEqual({
      kind: 'overloaded',
      afterMillis: 7000,
    })
  }
  expect(classify(refusal(503, 'ServiceUnavailable')).kind).toBe('error')
})

test('what is too large is never tried again', () => {
  const etcd = new KubeError({ status: 500, reason: 'InternalError', message: 'etcdserver: request is too large', ref })
  for (const error of [refusal(413, 'RequestEntityTooLarge'), etcd]) {
    expect(classify(error)).toMatchObject({ kind: 'stalled', failure: { reason: 'TooLarge' } })
  }
})

test('a namespace that is going takes the work with it', () => {
  const details = { causes: [{ reason: 'NamespaceTerminating' }] }
  expect(classify(refusal(403, 'Forbidden', { details }))).toEqual({ kind: 'gone' })
  expect(classify(refusal(403, 'Forbidden')).kind).toBe('error')
})

test.each([
  [refusal(500, 'InternalError'), 'The API server answered 500 InternalError to a request about Job objects'],
  [refusal(0, 'Unreachable'), 'The API server was not reached'],
  [new TypeError('cannot read x of undefined, id 42'), 'An unexpected error'],
  ['not even an error', 'An unexpected error'],
])('the message of an error is stable: %s', (error, text) => {
  const outcome = classify(error)
  expect(outcome).toMatchObject({ kind: 'error', failure: { kind: 'retrying', reason: 'ReconcileError' } })
  if (outcome.kind !== 'error') return
  expect(outcome.failure.message).toContain(text)
  expect(outcome.failure.message).not.toMatch(/\d{4}-|42|job-1/)
})
