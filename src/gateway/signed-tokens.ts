import type { KeyObject } from 'node:crypto'
import type { KubeClient } from '../kube/client.ts'
import { podType, serviceAccountType } from '../kube/core-types.ts'
import { isForbidden } from '../kube/error.ts'
import type { Clock } from '../runtime/clock.ts'
import { type Authenticator, type Caller, KnownCallers } from './callers.ts'
import { claimsOf, type IssuerKeys, keyIdOf, keysOf, rejected, type TokenClaims } from './signed-token.ts'

export interface SignedTokensOptions {
  readonly client: KubeClient
  readonly clock: Pick<Clock, 'now' | 'monotonic'>
  /** Where the gateway may look pods up: tokens from elsewhere are refused. */
  readonly namespaces: readonly string[]
}

interface Issuer {
  readonly issuer: string
  readonly keys: IssuerKeys
  /** Monotonic milliseconds of when it was asked for. */
  readonly askedAt: number
}

const freshMillis = 5 * 60_000
/** A token with an unknown key may be the first of a new one, or a try: the keys are asked for at most so often. */
const askAgainMillis = 10_000
/** As the API server has it: so long after its grace period a pod's tokens end, whatever keeps the object. */
const afterDeletionMillis = 60_000

/**
 * Says who a token belongs to without any right in the whole cluster, which a TokenReview is. The signature is checked by
 * the keys that the API server publishes to every ServiceAccount (KEP-1393), and what the token is bound to is looked up
 * live, as the API server does: a token ends with its pod and its ServiceAccount (KEP-1205).
 */
export class SignedTokens implements Authenticator {
  readonly #client: KubeClient
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>
  readonly #namespaces: ReadonlySet<string>
  readonly #known: KnownCallers
  #issuer: Issuer | undefined
  #asking: Promise<Issuer> | undefined

  constructor({ client, clock, namespaces }: SignedTokensOptions) {
    this.#client = client
    this.#clock = clock
    this.#namespaces = new Set(namespaces)
    this.#known = new KnownCallers(clock)
  }

  authenticate(token: string, signal?: AbortSignal): Promise<Caller> {
    return this.#known.callerOf(token, () => this.#find(token, signal))
  }

  async #find(token: string, signal: AbortSignal | undefined): Promise<Caller> {
    const { issuer, key } = await this.#keyFor(keyIdOf(token))
    const claims = claimsOf(token, issuer, key, this.#clock.now())
    const { namespace, serviceAccount, podName, podUID } = claims
    if (!this.#namespaces.has(namespace) || !(await this.#isAlive(claims, signal))) throw rejected()
    return { namespace, serviceAccount, podName, podUID }
  }

  async #isAlive(claims: TokenClaims, signal: AbortSignal | undefined): Promise<boolean> {
    const { namespace, serviceAccount, podName } = claims
    const [pod, account] = await Promise.all([
      this.#client.find(podType, { namespace, name: podName }, { signal }),
      this.#client.find(serviceAccountType, { namespace, name: serviceAccount }, { signal }),
    ])
    if (pod?.metadata.uid !== claims.podUID || pod.spec.serviceAccountName !== serviceAccount) return false
    if (account?.metadata.uid !== claims.serviceAccountUID) return false
    const ended = [pod, account].map(({ metadata }) => Date.parse(metadata.deletionTimestamp ?? ''))
    const now = this.#clock.now().getTime()
    return !ended.some((at) => now > at + afterDeletionMillis)
  }

  async #keyFor(id: string): Promise<{ issuer: string; key: KeyObject }> {
    let { issuer, keys } = await this.#current(freshMillis)
    if (!keys.has(id)) ({ issuer, keys } = await this.#current(askAgainMillis))
    const key = keys.get(id)
    if (key === undefined) throw rejected()
    return { issuer, key }
  }

  /** The issuer as it was at most so long ago. */
  async #current(ageMillis: number): Promise<Issuer> {
    const held = this.#issuer
    if (held !== undefined && this.#clock.monotonic() - held.askedAt <= ageMillis) return held
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined
    })
    this.#issuer = await this.#asking
    return this.#issuer
  }

  async #ask(): Promise<Issuer> {
    const { transport } = this.#client
    const askedAt = this.#clock.monotonic()
    const [configuration, set] = await Promise.all([
      transport.request<{ issuer?: string }>({ path: '/.well-known/openid-configuration' }),
      transport.request({ path: '/openid/v1/jwks', accept: 'application/jwk-set+json' }),
    ]).catch((error: unknown) => {
      throw isForbidden(error) ? new Error(discoveryAdvice, { cause: error }) : error
    })
    return { issuer: configuration.issuer ?? '', keys: keysOf(set), askedAt }
  }
}

const discoveryAdvice =
  'the API server does not tell this ServiceAccount how it signs tokens: Kubernetes binds the ClusterRole ' +
  'system:service-account-issuer-discovery to all ServiceAccounts, and somebody took that away; bind it to this one'
