import { createHash } from 'node:crypto'
import { gatewayAudience } from '../api/run-api.ts'
import type { KubeClient } from '../kube/client.ts'
import { type TokenReview, tokenReviewType } from '../kube/core-types.ts'
import type { Clock } from '../runtime/clock.ts'
import { ApiError, type ErrorCode } from './errors.ts'

/** Who presents a token: a ServiceAccount in the one pod that the token is bound to. */
export interface Caller {
  readonly namespace: string
  readonly serviceAccount: string
  readonly podName: string
  readonly podUID: string
}

/** Says who a token belongs to. */
export interface Authenticator {
  /** @throws {ApiError} `auth.invalid_token` */
  authenticate(token: string, signal?: AbortSignal): Promise<Caller>
}

const cacheMillis = 10_000
const cacheSize = 4096

const podNameKey = 'authentication.kubernetes.io/pod-name'
const podUidKey = 'authentication.kubernetes.io/pod-uid'

/**
 * Asks the API server about tokens (TokenReview, KEP-1205). A good answer is kept for ten seconds under the hash of
 * the token; that is safe because whether the pod still acts for its run is never decided by the token.
 */
export class TokenReviews implements Authenticator {
  readonly #client: KubeClient
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #good = new Map<string, { readonly caller: Caller; readonly until: number }>()

  constructor(client: KubeClient, clock: Pick<Clock, 'monotonic'>) {
    this.#client = client
    this.#clock = clock
  }

  async authenticate(token: string, signal?: AbortSignal): Promise<Caller> {
    const key = createHash('sha256').update(token).digest('base64')
    const known = this.#good.get(key)
    if (known !== undefined && known.until > this.#clock.monotonic()) return known.caller
    this.#good.delete(key)
    const caller = callerOf(await this.#review(token, signal))
    this.#keep(key, caller)
    return caller
  }

  #review(token: string, signal: AbortSignal | undefined): Promise<TokenReview> {
    const { apiVersion, kind } = tokenReviewType
    const spec = { token, audiences: [gatewayAudience] }
    return this.#client.create<TokenReview>({ apiVersion, kind, metadata: { name: '' }, spec }, { signal })
  }

  #keep(key: string, caller: Caller): void {
    for (const oldest of this.#good.keys()) {
      if (this.#good.size < cacheSize) break
      this.#good.delete(oldest)
    }
    this.#good.set(key, { caller, until: this.#clock.monotonic() + cacheMillis })
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

function refused(code: ErrorCode, message: string): ApiError {
  return new ApiError('auth.invalid_token', code, message)
}
