import { describe, expect, it } from 'vitest'
import { callerOf } from '../../../src/gateway/token-reviews.ts'
import type { TokenReview } from '../../../src/kube/core-types.ts'

const extra = {
  'authentication.kubernetes.io/pod-name': ['work-x'],
  'authentication.kubernetes.io/pod-uid': ['uid-1'],
}
const good = {
  authenticated: true,
  audiences: ['graphwright'],
  user: { username: 'system:serviceaccount:team-a:graphwright-runner', extra },
}

function review(status: TokenReview['status']): TokenReview {
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata: { name: '' } }
  return { ...request, spec: { token: 'x' }, ...(status && { status }) }
}

function refusal(status: TokenReview['status']): unknown {
  try {
    return callerOf(review(status))
  } catch (error) {
    return error
  }
}

describe('the caller of a reviewed token', () => {
  it('is a ServiceAccount in a pod', () => {
    const caller = { namespace: 'team-a', serviceAccount: 'graphwright-runner', podName: 'work-x', podUID: 'uid-1' }
    expect(callerOf(review(good))).toEqual(caller)
  })

  it.each([
    ['a review without an answer', undefined, 'token_rejected'],
    ['a token that is not valid', { authenticated: false }, 'token_rejected'],
    ['an answer for another audience', { ...good, audiences: ['vault'] }, 'audience_mismatch'],
    ['an authenticator that ignores audiences', { authenticated: true, user: good.user }, 'audience_mismatch'],
    ['a person', { ...good, user: { username: 'alice', extra } }, 'pod_required'],
    ['a token that is bound to no pod', { ...good, user: { username: good.user.username } }, 'pod_required'],
  ])('is refused for %s', (_name, status, code) => {
    expect(refusal(status)).toMatchObject({ type: 'auth.invalid_token', status: 401, code })
  })
})
