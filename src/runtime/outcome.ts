import { isConflict, isTooLarge, KubeError } from '../kube/error.ts'
import { Terminal, Wait } from './result.ts'
import type { Failure } from './status.ts'

/** What the runtime does about an error of a pass. */
export type Outcome =
  /** Lost a race: come back quietly. No metric, no event, no condition. */
  | { readonly kind: 'conflict' }
  /** The namespace is going, and everything in it: nothing to do. */
  | { readonly kind: 'gone' }
  /** A dependency is missing: show it, come back, count no error. */
  | { readonly kind: 'waiting'; readonly failure: Failure; readonly afterMillis: number | undefined }
  /** Only people can help: show it, one event, no retry but the one that was asked for. */
  | { readonly kind: 'stalled'; readonly failure: Failure; readonly afterMillis: number | undefined }
  /** The server said when to come back. */
  | { readonly kind: 'overloaded'; readonly afterMillis: number }
  /** A bug or an outage: log it, show it, back off. */
  | { readonly kind: 'error'; readonly failure: Failure }

/** Reads an error of a pass. Messages are stable: a condition that changed with each attempt would wake its own key. */
export function classify(error: unknown): Outcome {
  if (error instanceof Wait) {
    const { reason, message, afterMillis } = error
    return { kind: 'waiting', failure: { kind: 'waiting', reason, message }, afterMillis }
  }
  if (error instanceof Terminal) {
    const { reason, message, afterMillis } = error
    return { kind: 'stalled', failure: { kind: 'stalled', reason, message }, afterMillis }
  }
  if (isConflict(error)) return { kind: 'conflict' }
  if (isTooLarge(error)) return { kind: 'stalled', failure: tooLarge(error), afterMillis: undefined }
  if (isNamespaceGoing(error)) return { kind: 'gone' }
  if (isOverload(error)) return { kind: 'overloaded', afterMillis: error.retryAfterSeconds * 1000 }
  return { kind: 'error', failure: { kind: 'retrying', reason: 'ReconcileError', message: describe(error) } }
}

function tooLarge(error: KubeError): Failure {
  const what = error.ref === undefined ? 'An object' : `${error.ref.kind} ${error.ref.name}`
  const message = `${what} is larger than the API server takes; make what it is made of smaller`
  return { kind: 'stalled', reason: 'TooLarge', message }
}

function isOverload(error: unknown): error is KubeError & { readonly retryAfterSeconds: number } {
  if (!(error instanceof KubeError) || error.retryAfterSeconds === undefined) return false
  return error.status === 429 || error.status === 503
}

function isNamespaceGoing(error: unknown): boolean {
  if (!(error instanceof KubeError) || error.status !== 403) return false
  return error.details?.causes?.some((cause) => cause.reason === 'NamespaceTerminating') === true
}

function describe(error: unknown): string {
  return `${summary(error)}. It is tried again with growing pauses; the log of the operator has the details`
}

function summary(error: unknown): string {
  if (!(error instanceof KubeError)) return 'An unexpected error stopped the work on this object'
  const what = error.ref === undefined ? 'a request' : `a request about ${error.ref.kind} objects`
  if (error.status === 0) return `The API server was not reached for ${what}`
  return `The API server answered ${error.status} ${error.reason} to ${what}`
}
