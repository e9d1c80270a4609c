import type { Content } from '../api/fields.ts'
import { internalBlobsPath } from '../api/run-api.ts'
import { type Digest, digestBytes } from '../lib/digest.ts'
import { type BackOffOptions, backOffMillis } from './back-off.ts'
import type { Clock } from './clock.ts'
import type { ContentStore } from './content-store.ts'
import { describeAnswer, type GatewayAnswer, type GatewayConnection } from './gateway-connection.ts'

/** Why a content could not be read or kept: it is lost, the gateway said no, or the gateway was not reached in time. */
export type ContentFailure = 'missing' | 'refused' | 'unavailable'

/** The content store could not do what was asked. The message is for people. */
export class ContentStoreError extends Error {
  override readonly name = 'ContentStoreError'
  readonly failure: ContentFailure

  constructor(failure: ContentFailure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.failure = failure
  }
}

export interface ContentClientOptions {
  readonly gateway: GatewayConnection
  readonly clock: Clock
  /** How long a gateway that restarts is waited for, milliseconds. Default 10,000. */
  readonly patienceMillis?: number
}

const pauses: BackOffOptions = { firstMillis: 100, longestMillis: 1000, jitter: 0.2 }

/** The content store of the gateway, for the manager. */
export class ContentClient implements ContentStore {
  readonly #options: ContentClientOptions

  constructor(options: ContentClientOptions) {
    this.#options = options
  }

  async put(text: string, signal?: AbortSignal): Promise<Content> {
    const bytes = Buffer.from(text)
    const digest = digestBytes(bytes)
    await this.#ask('PUT', digest, bytes, signal)
    return { digest, size: bytes.byteLength }
  }

  async get(digest: Digest, signal?: AbortSignal): Promise<string> {
    const { bytes } = await this.#ask('GET', digest, undefined, signal)
    if (digestBytes(bytes) !== digest) {
      throw new ContentStoreError('refused', `the gateway answered other bytes than those of ${digest}`)
    }
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  }

  async #ask(
    method: 'GET' | 'PUT',
    digest: Digest,
    body: Buffer | undefined,
    signal: AbortSignal | undefined,
  ): Promise<GatewayAnswer> {
    const { clock, gateway, patienceMillis = 10_000 } = this.#options
    const end = clock.monotonic() + patienceMillis
    for (let failures = 1; ; failures++) {
      const answer = await gateway.send(method, `${internalBlobsPath}/${digest}`, body, signal).catch(asError)
      signal?.throwIfAborted()
      if (!(answer instanceof Error) && answer.status < 300) return answer
      if (!(answer instanceof Error) && !mayPass(answer.status)) throw failed(digest, answer)
      const wait = backOffMillis(failures, pauses)
      if (clock.monotonic() + wait >= end) throw this.#unavailable(answer)
      await clock.sleep(wait, signal)
    }
  }

  #unavailable(last: GatewayAnswer | Error): ContentStoreError {
    const why = last instanceof Error ? last.message : describeAnswer(last)
    const message = `the gateway at ${this.#options.gateway.url} did not answer with a success: ${why}`
    return new ContentStoreError('unavailable', message, last instanceof Error ? { cause: last } : undefined)
  }
}

/** A gateway that restarts, is overloaded, or has no room now. */
function mayPass(status: number): boolean {
  return status === 429 || (status >= 502 && status <= 504)
}

function failed(digest: Digest, answer: GatewayAnswer): ContentStoreError {
  if (answer.status !== 404)
    return new ContentStoreError('refused', `the gateway refused ${digest}: ${describeAnswer(answer)}`)
  return new ContentStoreError('missing', `the content store of the gateway does not have ${digest} (any more)`)
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
