import { isJsonObject } from '../lib/json.ts'
import type { ObjectRef } from '../lib/object.ts'
import { KubeError, type Status } from './error.ts'

/** What a failed request was about, for its error. */
export interface RequestContext {
  readonly server: string
  readonly method: string
  readonly path: string
  readonly ref?: ObjectRef | undefined
}

/**
 * The error of an answer of 400 and above. The server's own message is kept where there is one, because it names
 * the object and the cause; a body that is no `metav1.Status` is a proxy's or load balancer's, and is left out.
 */
export function errorFromResponse(
  context: RequestContext,
  response: { readonly status: number; readonly retryAfterSeconds: number | undefined; readonly body: string },
): KubeError {
  const status = parseStatus(response.body)
  return new KubeError({
    status: response.status,
    reason: status?.reason || reasonOf(response.status),
    message: describe(context, response.status, status),
    details: status?.details,
    retryAfterSeconds: response.retryAfterSeconds ?? status?.details?.retryAfterSeconds,
    ref: context.ref,
  })
}

/** The error of a `metav1.Status` that came inside a watch. */
export function errorFromStatus(context: RequestContext, status: Status): KubeError {
  const code = status.code ?? 500
  return new KubeError({
    status: code,
    reason: status.reason || reasonOf(code),
    message: describe(context, code, status),
    details: status.details,
    retryAfterSeconds: status.details?.retryAfterSeconds,
    ref: context.ref,
  })
}

function parseStatus(body: string): Status | undefined {
  try {
    const value: unknown = JSON.parse(body)
    return isJsonObject(value) && value.kind === 'Status' ? (value as unknown as Status) : undefined
  } catch {
    return undefined
  }
}

function describe(context: RequestContext, code: number, status: Status | undefined): string {
  if (code === 401) {
    return `the API server at ${context.server} does not accept these credentials: log in again, or choose another context`
  }
  if (status?.message) return status.message
  const subject = context.ref === undefined ? context.path : refText(context.ref)
  return `${context.method} ${subject}: the API server at ${context.server} answered ${code} ${reasonOf(code)}`
}

function refText(ref: ObjectRef): string {
  return `${ref.kind} ${ref.namespace === undefined ? '' : `${ref.namespace}/`}${ref.name}`
}

const reasons: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  409: 'Conflict',
  410: 'Gone',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
}

function reasonOf(code: number): string {
  return reasons[code] ?? 'Unknown'
}

/** The error of a request that got no answer, or half of one. */
export function unreachable(context: RequestContext, cause: unknown): KubeError {
  const message = `cannot reach the API server at ${context.server}: ${explain(cause)}`
  return new KubeError({ status: 0, reason: 'Unreachable', message, ref: context.ref, cause })
}

/** The error of an answer in time but not in form: something else listens at the address. */
export function notKubernetes(context: RequestContext, cause: unknown): KubeError {
  const message = `${context.server}${context.path} did not answer with JSON; is it a Kubernetes API server?`
  return new KubeError({ status: 502, reason: 'InvalidResponse', message, ref: context.ref, cause })
}

const explanations: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused; is the cluster running?',
  ECONNRESET: 'the connection was reset',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
  ENOTFOUND: 'the host name does not resolve',
  EAI_AGAIN: 'the host name does not resolve now',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  UND_ERR_HEADERS_TIMEOUT: 'no answer in time',
  UND_ERR_BODY_TIMEOUT: 'the answer stopped halfway',
  UND_ERR_SOCKET: 'the connection was closed',
  UND_ERR_INFO: 'the connection was closed',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is not signed by the CA of the kubeconfig',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not signed by the CA of the kubeconfig',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is not signed by the CA of the kubeconfig',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is not signed by the CA of the kubeconfig',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  CERT_HAS_EXPIRED: 'its certificate has expired',
}

function explain(cause: unknown): string {
  const code = codeOf(cause)
  const known = code === undefined ? undefined : explanations[code]
  return known ?? code ?? (cause instanceof Error ? cause.message : String(cause))
}

/** The `code` of a Node or undici error, or of what it wraps. */
export function codeOf(error: unknown): string | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    if ('code' in current && typeof current.code === 'string') return current.code
  }
  return undefined
}

const resetCodes = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_INFO', 'ERR_HTTP2_STREAM_ERROR'])

/** The connection broke under the request: an old kept-alive one that the server had just closed, as a rule. */
export function isConnectionReset(error: unknown): boolean {
  return error instanceof KubeError && error.status === 0 && resetCodes.has(codeOf(error.cause) ?? '')
}

/** A stream stayed silent for longer than its idle timeout, or its connection left a ping unanswered. */
export function isSilence(error: unknown): boolean {
  if (!(error instanceof KubeError) || error.status !== 0) return false
  return codeOf(error.cause) === 'UND_ERR_BODY_TIMEOUT' || /unresponsive/.test(String(error.cause))
}
