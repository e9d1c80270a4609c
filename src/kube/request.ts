import type { Dispatcher } from 'undici'
import type { ObjectRef } from '../lib/object.ts'
import { version } from '../lib/version.ts'
import type { Credential } from './credentials.ts'
import { KubeError } from './error.ts'

export type QueryValue = string | number | boolean | undefined

export interface TransportRequest {
  /** Default `GET`. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Absolute path, already encoded: `/api/v1/namespaces/a/pods`. */
  readonly path: string
  readonly query?: Readonly<Record<string, QueryValue>>
  /** Sent as JSON. */
  readonly body?: unknown
  /** Default `application/json`. */
  readonly contentType?: string
  /** What kind of answer is taken; default `application/json`. */
  readonly accept?: string
  readonly signal?: AbortSignal | undefined
  /** Milliseconds for one try of the whole exchange, body included. Default: that of the transport. */
  readonly timeoutMillis?: number
  /** What the request is about, for its error. */
  readonly ref?: ObjectRef | undefined
}

export interface StreamRequest extends TransportRequest {
  /** Milliseconds without a byte after which the stream breaks. Default 120,000. */
  readonly idleTimeoutMillis?: number | undefined
}

/** Content type of a server-side apply. YAML includes JSON. */
export const applyPatch = 'application/apply-patch+yaml'

const longestRetryAfterSeconds = 10

/** True where sending twice does what sending once does. */
export function isRepeatable(request: TransportRequest): boolean {
  return (request.method ?? 'GET') === 'GET' || request.contentType === applyPatch
}

/** Milliseconds after which an overloaded server may be asked again, undefined where the error is another. */
export function overloadPause(error: unknown): number | undefined {
  if (!(error instanceof KubeError) || (error.status !== 429 && error.status !== 503)) return undefined
  const seconds = error.retryAfterSeconds
  if (seconds === undefined || seconds > longestRetryAfterSeconds) return undefined
  return seconds * 1000 * (1 + Math.random() / 4)
}

/** Headers of a request: who asks, who says so, and what form it takes. */
export function headersOf(request: TransportRequest, credential: Credential): Record<string, string> {
  const headers: Record<string, string> = {
    ...credential.headers,
    'user-agent': `graphwright/${version}`,
    accept: request.accept ?? 'application/json',
  }
  if (request.body !== undefined) headers['content-type'] = request.contentType ?? 'application/json'
  return headers
}

/** A header of a response. */
export function headerOf(response: Dispatcher.ResponseData, name: string): string | undefined {
  const value = response.headers[name]
  return Array.isArray(value) ? value[0] : value
}

/** The query of a request with its question mark, or nothing. */
export function queryText(query: TransportRequest['query']): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined) parameters.set(name, String(value))
  }
  const text = parameters.toString()
  return text === '' ? '' : `?${text}`
}
