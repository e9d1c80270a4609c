import { gatewayAudience } from '../api/run-api.ts'
import type { KubeClient } from '../kube/client.ts'
import { type TokenReview, tokenReviewType } from '../kube/core-types.ts'
import type { Clock } from '../runtime/clock.ts'
import { type Authenticator, type Caller, KnownCallers, refused } from './callers.ts'

const podNameKey = 'authentication.kubernetes.io/pod-name'
const podUidKey = 'authentication.kubernetes.io/pod-uid'

/** Asks the API server about tokens (TokenReview, KEP-1205), which needs a right in the whole cluster. */
export class TokenReviews implements Authenticator {
  readonly #client: KubeClient
  readonly #known: KnownCallers

  constructor(client: KubeClient, clock: Pick<Clock, 'monotonic'>) {
    this.#client = client
    this.#known = new KnownCallers(clock)
  }

  authenticate(token: string, signal?: AbortSignal): Promise<Caller> {
    return this.#known.callerOf(token, async () => callerOf(await this.#review(token, signal)))
  }

  #review(token: string, signal: AbortSignal | undefined): Promise<TokenReview> {
    const { apiVersion, kind } = tokenReviewType
    const spec = { token, audiences: [gatewayAudience] }
    return this.#client.create<TokenReview>({ apiVersion, kind, metadata: { name: '' }, spec }, { signal })
  }
}

/**
 * The caller of a finished review.
 * @throws {ApiError} `auth.invalid_token` where the token is not valid, not for this audience, or bound to no pod
 */
export function callerOf(review: TokenReview): Caller {
  const { authenticated, audiences, user } = review.status ?? {}
  if (authenticated !== true || user === undefined) {
    throw refused('token_rejected', 'the token is not valid, has expired, or is for another audience')
  }
  // An authenticator that knows nothing of audiences leaves them out: such an answer proves nothing about ours.
  if (audiences?.includes(gatewayAudience) !== true) {
    throw refused('audience_mismatch', `the token is not for the audience ${gatewayAudience}`)
  }
  const [, namespace, serviceAccount] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user.username) ?? []
  const podName = user.extra?.[podNameKey]?.[0]
  const podUID = user.extra?.[podUidKey]?.[0]
  if (namespace === undefined || serviceAccount === undefined || podName === undefined || podUID === undefined) {
    throw refused('pod_required', 'the token is not the projected token of a pod')
  }
  return { namespace, serviceAccount, podName, podUID }
}
