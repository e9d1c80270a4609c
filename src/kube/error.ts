import type { ObjectRef } from '../lib/object.ts'

/** `metav1.StatusDetails`, as far as it is read. */
export interface StatusDetails {
  name?: string
  group?: string
  kind?: string
  uid?: string
  retryAfterSeconds?: number
  causes?: { reason?: string; message?: string; field?: string }[]
}

/** `metav1.Status`, as far as it is read. */
export interface Status {
  kind: 'Status'
  code?: number
  reason?: string
  message?: string
  details?: StatusDetails
}

export interface KubeErrorInit {
  /** HTTP status; 0 where the server was not reached. */
  readonly status: number
  /** A reason of `metav1.Status`, or `Unreachable`. */
  readonly reason: string
  /** For people; no headers, no secrets. */
  readonly message: string
  readonly details?: StatusDetails | undefined
  readonly retryAfterSeconds?: number | undefined
  /** What the request was about. */
  readonly ref?: ObjectRef | undefined
  readonly cause?: unknown
}

/** The API server refused a request, or was not reached. Ask what happened with the predicates below. */
export class KubeError extends Error {
  override readonly name = 'KubeError'
  readonly status: number
  readonly reason: string
  readonly details: StatusDetails | undefined
  readonly retryAfterSeconds: number | undefined
  readonly ref: ObjectRef | undefined

  constructor(init: KubeErrorInit) {
    super(init.message, init.cause === undefined ? undefined : { cause: init.cause })
    this.status = init.status
    this.reason = init.reason
    this.details = init.details
    this.retryAfterSeconds = init.retryAfterSeconds
    this.ref = init.ref
  }
}

/** The object, or its kind, does not exist. */
export function isNotFound(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 404
}

/** A compare-and-set lost its race: the object changed since it was read, or another object has its name now. */
export function isConflict(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 409 && error.reason !== 'AlreadyExists'
}

/** The name is taken. */
export function isAlreadyExists(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 409 && error.reason === 'AlreadyExists'
}

/** RBAC, quota, or an admission policy said no. */
export function isForbidden(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 403
}

/** The object breaks its schema or a rule of it; only a change of the object helps. */
export function isInvalid(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 422
}

/**
 * The object is larger than the server or etcd takes; never worth a retry. Between about 1.5 and 3 MiB etcd refuses, and
 * the API server passes that on as a 500 without a reason; above it answers 413.
 */
export function isTooLarge(error: unknown): error is KubeError {
  if (!(error instanceof KubeError)) return false
  if (error.status === 413) return true
  return error.status === 500 && /request is too large|larger than max/.test(error.message)
}

/** Nobody's fault and worth a retry later: not reached, overloaded, or starting. */
export function isUnavailable(error: unknown): error is KubeError {
  if (!(error instanceof KubeError)) return false
  return error.status === 0 || error.status === 429 || (error.status >= 502 && error.status <= 504)
}

/** What is asked for was there and is not kept any more: a version or page that was compacted away, or a log. */
export function isExpired(error: unknown): error is KubeError {
  return error instanceof KubeError && (error.status === 410 || error.reason === 'Expired' || error.reason === 'Gone')
}
