import type { KubeConfig } from '@kubernetes/client-node'
import { type Dispatcher, request as send } from 'undici'
import { type Credential, Credentials } from './credentials.ts'
import { buildDispatcher } from './dispatcher.ts'
import { KubeError } from './error.ts'
import { errorFromResponse, isConnectionReset, notKubernetes, type RequestContext, unreachable } from './failures.ts'
import {
  headerOf,
  headersOf,
  isRepeatable,
  overloadPause,
  queryText,
  type StreamRequest,
  type TransportRequest,
} from './request.ts'
import { dateOf, type TimedAnswer } from './server-clock.ts'
import { Slots } from './slots.ts'
import { pause, startDeadline } from './timing.ts'

export interface TransportOptions {
  /** Ordinary requests at one time; streams do not count. Default 32. */
  readonly maxConcurrency?: number
  /** Default 30,000. */
  readonly timeoutMillis?: number
  /** Largest answer that is read. Default 64 MiB. */
  readonly maxBodyBytes?: number
  /** A connection that leaves a ping unanswered for so long is given up. Default 30,000. */
  readonly pingMillis?: number
  /** Unix milliseconds; default the machine's clock. */
  readonly now?: () => number
  /** Told of every answer, refusals among them, for `rest_client_requests_total`; `<error>` where there was none. */
  readonly onAnswer?: (method: string, code: number | '<error>') => void
  /** Told of every answer that has a date; our instants are of `performance.now()`. */
  readonly onTime?: (answer: TimedAnswer) => void
}

const maxOverloadRetries = 4
const maxErrorBytes = 1 << 20

/**
 * Requests to one API server. Everything that is refused or fails is a {@link KubeError}; an abort by the caller's
 * signal rejects with that signal's reason. Answers 429 and 503 that name a Retry-After of at most 10 s are tried again,
 * four times at most; a connection that breaks is tried again once where repeating is harmless: GET and server-side
 * apply.
 */
export class Transport {
  /** Address of the API server, without a slash at the end. */
  readonly server: string
  readonly #proxyUrl: string | undefined
  readonly #credentials: Credentials
  readonly #slots: Slots
  readonly #timeoutMillis: number
  readonly #maxBodyBytes: number
  readonly #pingMillis: number
  readonly #onAnswer: TransportOptions['onAnswer']
  readonly #onTime: TransportOptions['onTime']
  #dispatcher: { readonly fingerprint: string; readonly value: Dispatcher } | undefined

  constructor(config: KubeConfig, options: TransportOptions = {}) {
    const cluster = config.getCurrentCluster()
    this.server = (cluster?.server ?? '').replace(/\/+$/, '')
    this.#proxyUrl = cluster?.proxyUrl
    this.#credentials = new Credentials(config, options.now)
    this.#slots = new Slots(options.maxConcurrency ?? 32)
    this.#timeoutMillis = options.timeoutMillis ?? 30_000
    this.#maxBodyBytes = options.maxBodyBytes ?? 64 * 1024 * 1024
    this.#pingMillis = options.pingMillis ?? 30_000
    this.#onAnswer = options.onAnswer
    this.#onTime = options.onTime
  }

  /** Sends a request and returns the parsed JSON of the answer. */
  async request<T>(request: TransportRequest): Promise<T> {
    const text = await this.text(request)
    try {
      return JSON.parse(text) as T
    } catch (cause) {
      throw notKubernetes(this.#context(request), cause)
    }
  }

  /** Sends a request and returns the answer as it is. */
  async text(request: TransportRequest): Promise<string> {
    const release = await this.#slots.acquire(request.signal)
    try {
      return await this.#retrying(request)
    } finally {
      release()
    }
  }

  /**
   * Opens a watch or log. Resolves when the server has accepted it. The stream ends when the server closes it in order,
   * and throws a {@link KubeError} of status 0 when the connection breaks or stays silent.
   */
  async stream(request: StreamRequest): Promise<AsyncIterable<Uint8Array>> {
    const { body } = await this.#authenticated(request, request.signal, {
      headersTimeout: request.timeoutMillis ?? this.#timeoutMillis,
      bodyTimeout: request.idleTimeoutMillis ?? 120_000,
    })
    return this.#chunks(request, body)
  }

  /** Lets go of all connections; open streams break. */
  async close(): Promise<void> {
    const dispatcher = this.#dispatcher?.value
    this.#dispatcher = undefined
    await dispatcher?.destroy()
  }

  async #retrying(request: TransportRequest): Promise<string> {
    let resets = 0
    for (let overloads = 0; ; ) {
      try {
        return await this.#once(request)
      } catch (error) {
        if (isConnectionReset(error) && isRepeatable(request) && resets++ === 0) continue
        const wait = overloadPause(error)
        if (wait === undefined || overloads++ === maxOverloadRetries) throw error
        await pause(wait, request.signal)
      }
    }
  }

  async #once(request: TransportRequest): Promise<string> {
    const timeoutMillis = request.timeoutMillis ?? this.#timeoutMillis
    // undici's own timeouts come first: they also find out whether the connection is still alive.
    const deadline = startDeadline(request.signal, timeoutMillis + 500)
    const timeouts = { headersTimeout: timeoutMillis, bodyTimeout: timeoutMillis }
    try {
      const { body } = await this.#authenticated(request, deadline.signal, timeouts)
      return await this.#readAll(request, body)
    } catch (error) {
      if (request.signal?.aborted) throw request.signal.reason
      if (deadline.expired) throw unreachable(this.#context(request), new Error(`no answer within ${timeoutMillis} ms`))
      throw error
    } finally {
      deadline.end()
    }
  }

  /** Sends with the present credentials, and once more with new ones if the server refuses those. */
  async #authenticated(
    request: TransportRequest,
    signal: AbortSignal | undefined,
    timeouts: Timeouts,
  ): Promise<Dispatcher.ResponseData> {
    const credential = await this.#credentials.current()
    try {
      return await this.#send(request, credential, signal, timeouts)
    } catch (error) {
      if (!(error instanceof KubeError) || error.status !== 401) throw error
      const renewed = await this.#credentials.renew(credential)
      return await this.#send(request, renewed, signal, timeouts)
    }
  }

  /** One exchange up to the answer's headers. */
  async #send(
    request: TransportRequest,
    credential: Credential,
    signal: AbortSignal | undefined,
    timeouts: Timeouts,
  ): Promise<Dispatcher.ResponseData> {
    let response: Dispatcher.ResponseData
    const sentAt = performance.now()
    try {
      response = await send(this.server + request.path + queryText(request.query), {
        dispatcher: this.#dispatcherFor(credential),
        method: request.method ?? 'GET',
        headers: headersOf(request, credential),
        body: request.body === undefined ? null : JSON.stringify(request.body),
        ...timeouts,
        ...(signal === undefined ? {} : { signal }),
      })
    } catch (cause) {
      if (signal?.aborted) throw signal.reason
      this.#onAnswer?.(request.method ?? 'GET', '<error>')
      throw unreachable(this.#context(request), cause)
    }
    this.#onAnswer?.(request.method ?? 'GET', response.statusCode)
    this.#tellTime(response, sentAt)
    if (response.statusCode < 400) return response
    throw await this.#refusal(request, response)
  }

  async #refusal(request: TransportRequest, response: Dispatcher.ResponseData): Promise<KubeError> {
    const retryAfter = Number(headerOf(response, 'retry-after'))
    const body = await this.#readAll(request, response.body, maxErrorBytes).catch(() => '')
    return errorFromResponse(this.#context(request), {
      status: response.statusCode,
      retryAfterSeconds: retryAfter > 0 ? retryAfter : undefined,
      body,
    })
  }

  async #readAll(
    request: TransportRequest,
    body: Dispatcher.ResponseData['body'],
    limit = this.#maxBodyBytes,
  ): Promise<string> {
    const chunks: Uint8Array[] = []
    let size = 0
    for await (const chunk of this.#chunks(request, body)) {
      size += chunk.length
      if (size > limit) {
        const message = `${request.path}: the answer is larger than ${limit} bytes and was not read`
        throw new KubeError({ status: 200, reason: 'ResponseTooLarge', message, ref: request.ref })
      }
      chunks.push(chunk)
    }
    return Buffer.concat(chunks, size).toString('utf8')
  }

  async *#chunks(request: TransportRequest, body: Dispatcher.ResponseData['body']): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of body) yield chunk as Uint8Array
    } catch (cause) {
      if (request.signal?.aborted) throw request.signal.reason
      throw unreachable(this.#context(request), cause)
    }
  }

  #dispatcherFor(credential: Credential): Dispatcher {
    const present = this.#dispatcher
    if (present?.fingerprint === credential.tlsFingerprint) return present.value
    const value = buildDispatcher(credential.tls, this.#proxyUrl, this.#pingMillis)
    this.#dispatcher = { fingerprint: credential.tlsFingerprint, value }
    // Waits for what is under way, watches among it; a certificate changed, nothing broke.
    present?.value.close().catch(() => {})
    return value
  }

  #tellTime(response: Dispatcher.ResponseData, sentAt: number): void {
    const date = dateOf(headerOf(response, 'date'))
    if (date !== undefined) this.#onTime?.({ date, sentAt, receivedAt: performance.now() })
  }

  #context(request: TransportRequest): RequestContext {
    return { server: this.server, method: request.method ?? 'GET', path: request.path, ref: request.ref }
  }
}

interface Timeouts {
  readonly headersTimeout: number
  readonly bodyTimeout: number
}
