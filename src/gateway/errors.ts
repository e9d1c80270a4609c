import { isForbidden, isUnavailable } from '../kube/error.ts'

/** Types of refusals, each with its HTTP status. Answers carry the type, so that programs need not read messages. */
const statuses = {
  'auth.invalid_token': 401,
  'auth.forbidden': 403,
  'run.fenced': 403,
  'run.gone': 403,
  'run.settled': 409,
  'run.input_lost': 409,
  'run.not_recorded': 425,
  'content.missing': 404,
  'content.corrupt': 500,
  'content.store_full': 507,
  'validation.conflict': 409,
  'validation.invalid': 400,
  'validation.not_found': 404,
  'validation.payload_too_large': 413,
  'gateway.unavailable': 503,
  'gateway.internal': 500,
} as const
export type ErrorType = keyof typeof statuses
export const errorTypes = Object.keys(statuses) as readonly ErrorType[]

/** Exact causes of refusals. Each has its row in docs/reasons.md. */
export const errorCodes = [
  'api_server_unavailable',
  'audience_mismatch',
  'body_too_large',
  'content_missing',
  'content_not_named',
  'content_too_large',
  'digest_malformed',
  'digest_mismatch',
  'gateway_forbidden',
  'input_lost',
  'invalid_json',
  'manager_only',
  'no_such_route',
  'not_a_runner',
  'notice_malformed',
  'notice_not_taken',
  'output_malformed',
  'output_too_large',
  'pod_not_recorded',
  'pod_replaced',
  'pod_required',
  'report_malformed',
  'result_recorded',
  'run_contended',
  'run_deleted',
  'run_settled',
  'store_full',
  'token_missing',
  'token_rejected',
  'unexpected',
] as const
export type ErrorCode = (typeof errorCodes)[number]
export type ErrorStatus = (typeof statuses)[ErrorType]

/** A request the gateway refuses. The message is for people and never holds a secret. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly type: ErrorType
  readonly code: ErrorCode
  readonly status: ErrorStatus
  /** Seconds after which the same request may succeed; absent where it will not. */
  readonly retryAfterSeconds: number | undefined

  constructor(
    type: ErrorType,
    code: ErrorCode,
    message: string,
    options: { retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.type = type
    this.code = code
    this.status = statuses[type]
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** What to answer for whatever was thrown. Causes outside the gateway's own rules are not shown to the caller. */
export function apiErrorOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  if (isUnavailable(error)) {
    const message = 'the Kubernetes API server cannot be reached now; try again'
    return new ApiError('gateway.unavailable', 'api_server_unavailable', message, {
      retryAfterSeconds: 1,
      cause: error,
    })
  }
  if (isForbidden(error)) {
    const message = 'the gateway lacks a permission it needs; its log says which'
    return new ApiError('gateway.internal', 'gateway_forbidden', message, { cause: error })
  }
  const message = 'the gateway failed; its log has the details under this request id'
  return new ApiError('gateway.internal', 'unexpected', message, { cause: error })
}
