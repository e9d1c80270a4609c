import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { kinds } from '../../../src/api/kinds.ts'
import { ApiError } from '../../../src/gateway/errors.ts'
import { SignedTokens } from '../../../src/gateway/signed-tokens.ts'
import { TokenReviews } from '../../../src/gateway/token-reviews.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import { serviceAccountType } from '../../../src/kube/core-types.ts'
import { testClient } from '../../kit/control-plane.ts'
import { installCrds } from '../../kit/crds.ts'
import { FakeClock } from '../../kit/fake-clock.ts'
import { Workspace } from './support.ts'

/** Tokens of a real API server, checked by its published keys. What it says itself, by a TokenReview, is the measure. */

let client: KubeClient
let workspace: Workspace

beforeAll(async () => {
  client = testClient({ types: kinds })
  await installCrds(client)
  workspace = await Workspace.create(client)
})
afterAll(() => client.transport.close())

/** Remembers nothing of other tests. */
function checked(token: string, namespaces = [workspace.namespace]): Promise<unknown> {
  return codeOf(new SignedTokens({ client, clock: liveClock(), namespaces }).authenticate(token))
}

function reviewed(token: string): Promise<unknown> {
  return codeOf(new TokenReviews(client, liveClock()).authenticate(token))
}

/** The time of the machine, that the API server goes by as well. */
function liveClock() {
  return { now: () => new Date(), monotonic: () => performance.now() }
}

async function codeOf(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer
  } catch (error) {
    return error instanceof ApiError ? error.code : error
  }
}

describe('tokens checked by the keys of the API server', () => {
  it('say the same as a TokenReview', async () => {
    const pod = await workspace.pod()
    const token = await workspace.token(pod)
    const caller = {
      namespace: workspace.namespace,
      serviceAccount: 'graphwright-runner',
      podName: pod.metadata.name,
      podUID: pod.metadata.uid,
    }
    expect(await checked(token)).toEqual(caller)
    expect(await reviewed(token)).toEqual(caller)
  })

  it('are refused for another audience, without a pod, and when they were tampered with, as by a TokenReview', async () => {
    const pod = await workspace.pod()
    const good = await workspace.token(pod)
    const tokens = [
      await workspace.token(pod, { audience: 'vault' }),
      await workspace.token(undefined),
      `${good.slice(0, -8)}${good.endsWith('A'.repeat(8)) ? 'B' : 'A'.repeat(8)}`,
      'hello',
    ]
    const verdicts = await Promise.all(tokens.map((token) => checked(token)))
    expect(verdicts).toEqual(['audience_mismatch', 'pod_required', 'token_rejected', 'token_rejected'])
    const reviews = await Promise.all(tokens.map((token) => reviewed(token)))
    expect(reviews).toEqual(['token_rejected', 'pod_required', 'token_rejected', 'token_rejected'])
  })

  it('are refused from a namespace that is not served', async () => {
    const token = await workspace.token(await workspace.pod())
    expect(await checked(token, ['elsewhere'])).toBe('token_rejected')
  })

  it('end with their pod, also where another one has its name', async () => {
    const pod = await workspace.pod()
    const token = await workspace.token(pod)
    const { name, namespace, uid } = pod.metadata
    const path = `/api/v1/namespaces/${namespace}/pods/${name}`
    await client.transport.request({ method: 'DELETE', path, body: { gracePeriodSeconds: 0, preconditions: { uid } } })
    expect(await checked(token)).toBe('token_rejected')
    await workspace.pod({ metadata: { name } })
    expect(await checked(token)).toBe('token_rejected')
  })

  it('end with their ServiceAccount, also where another one has its name', async () => {
    await workspace.serviceAccount('brief')
    const token = await workspace.token(await workspace.pod({ serviceAccount: 'brief' }))
    expect(await checked(token)).toMatchObject({ serviceAccount: 'brief' })
    const { apiVersion, kind } = serviceAccountType
    await client.delete({ apiVersion, kind, name: 'brief', namespace: workspace.namespace })
    expect(await checked(token)).toBe('token_rejected')
    await workspace.serviceAccount('brief')
    expect(await checked(token)).toBe('token_rejected')
  })

  it('end in time', async () => {
    const token = await workspace.token(await workspace.pod())
    const late = { ...liveClock(), now: () => new Date(Date.now() + 2 * 3_600_000) }
    const tokens = new SignedTokens({ client, clock: late, namespaces: [workspace.namespace] })
    expect(await codeOf(tokens.authenticate(token))).toBe('token_rejected')
  })

  it('are remembered for ten seconds, and looked up again after', async () => {
    const pod = await workspace.pod()
    const token = await workspace.token(pod)
    const fake = new FakeClock(new Date())
    const tokens = new SignedTokens({ client, clock: fake, namespaces: [workspace.namespace] })
    await tokens.authenticate(token)
    const path = `/api/v1/namespaces/${workspace.namespace}/pods/${pod.metadata.name}`
    await client.transport.request({ method: 'DELETE', path, body: { gracePeriodSeconds: 0 } })
    expect(await codeOf(tokens.authenticate(token))).toMatchObject({ podName: pod.metadata.name })
    fake.tick(10_001)
    expect(await codeOf(tokens.authenticate(token))).toBe('token_rejected')
  })
})
