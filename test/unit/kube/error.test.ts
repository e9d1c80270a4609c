import { describe, expect, test } from 'vitest'
import {
  isAlreadyExists,
  isConflict,
  isExpired,
  isForbidden,
  isInvalid,
  isNotFound,
  isTooLarge,
  isUnavailable,
  KubeError,
} from '../../../src/kube/error.ts'

const predicates = {
  isAlreadyExists,
  isConflict,
  isExpired,
  isForbidden,
  isInvalid,
  isNotFound,
  isTooLarge,
  isUnavailable,
}

describe('what happened', () => {
  test.each<[string, number, string, string, string[]]>([
    ['gone', 404, 'NotFound', '', ['isNotFound']],
    ['a lost race', 409, 'Conflict', '', ['isConflict']],
    ['a taken name', 409, 'AlreadyExists', '', ['isAlreadyExists']],
    ['RBAC', 403, 'Forbidden', '', ['isForbidden']],
    ['a broken schema', 422, 'Invalid', '', ['isInvalid']],
    ['over 3 MiB', 413, 'RequestEntityTooLarge', '', ['isTooLarge']],
    ['over 1.5 MiB, as etcd says it', 500, '', 'etcdserver: request is too large', ['isTooLarge']],
    ['over 2 MiB, as gRPC says it', 500, '', 'rpc error: trying to send message larger than max', ['isTooLarge']],
    ['a bug of the server', 500, 'InternalError', 'boom', []],
    ['not reached', 0, 'Unreachable', '', ['isUnavailable']],
    ['overloaded', 429, 'TooManyRequests', '', ['isUnavailable']],
    ['starting', 503, 'ServiceUnavailable', '', ['isUnavailable']],
    ['behind a load balancer that is alone', 502, '', '', ['isUnavailable']],
    ['compacted', 410, 'Expired', '', ['isExpired']],
    ['compacted, as an older server says it', 410, 'Gone', '', ['isExpired']],
  ])('%s', (_title, status, reason, message, expected) => {
    const error = new KubeError({ status, reason, message })
    const true_ = Object.entries(predicates).filter(([, is]) => is(error))
    expect(true_.map(([name]) => name)).toEqual(expected)
  })

  test('is nothing of this for any other error', () => {
    for (const is of Object.values(predicates)) expect(is(new Error('404'))).toBe(false)
  })
})
