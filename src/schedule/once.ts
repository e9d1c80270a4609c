import type { DueOccurrence } from './due.ts'
import { normaliseInstant } from './instant.ts'

/**
 * A schedule_once trigger has one occurrence: its date. What is recorded of it depends on the date alone, so that neither
 * another name, nor the order of the triggers, nor pausing or resuming touches it.
 */
export interface OnceState {
  /** The date that was seen last, in UTC with milliseconds. */
  readonly at: string
  /**
   * - `Pending`: it is still to come, or due and not consumed; through pauses and downtime.
   * - `Consumed`: its firing has the occurrence for good; nothing but another future date makes a new one.
   * - `NotFuture`: it had passed already when it was chosen. It never becomes due.
   */
  readonly phase: 'Pending' | 'Consumed' | 'NotFuture'
  /** The last occurrence that was consumed and its firing, where the result can be read. */
  readonly consumed?: { readonly at: string; readonly firing: string } | undefined
}

/** What a column shows where nothing is to come. */
export const noPendingOccurrence = 'no pending occurrence'

/**
 * The state after a look at the trigger. The same date, in whatever offset it is written, changes nothing and is not
 * asked again whether it is in the future; another date is a new occurrence if it was in the future when
 * it was chosen. A text that is no date leaves nothing pending.
 * @param at `at` of the trigger as it is written
 * @param chosenAt the later of the creation of the Automation and the last change of its spec: not the present, so that a
 *   manager that was down does not miss a date that has passed since
 * @returns `state` itself where the date is the same
 */
export function observeDate(state: OnceState | undefined, at: string, chosenAt: Date): OnceState | undefined {
  const date = normaliseInstant(at)
  if (date === undefined || date === state?.at) return date === undefined ? undefined : state
  // A clock that was set back must not make an old date future again.
  const isNew = Date.parse(date) > chosenAt.getTime() && date !== state?.consumed?.at
  const phase = isNew ? 'Pending' : 'NotFuture'
  return state?.consumed === undefined ? { at: date, phase } : { at: date, phase, consumed: state.consumed }
}

/**
 * The occurrence if it may start: pending, its date reached, the Automation not paused. There is no
 * jitter, no deadline and no policy for missed ones: after a pause or downtime it is this same occurrence that
 * starts. It stays due until it is consumed; the name of its firing keeps it from starting twice.
 */
export function dueOnce(state: OnceState | undefined, now: Date, paused: boolean): DueOccurrence | undefined {
  if (state?.phase !== 'Pending' || paused) return undefined
  const occurrence = new Date(state.at)
  return occurrence <= now ? { occurrence, startAt: occurrence } : undefined
}

/** What is known of a firing that the date started. Manual and webhook firings are no receipt. */
export interface OnceReceipt {
  /** `spec.occurrence` of the firing. */
  readonly occurrence: string
  readonly firing: string
  readonly target: 'agent' | 'program'
  /** The launch of its Session is confirmed. */
  readonly sessionLaunched: boolean
  /** It has ended, in whatever way. */
  readonly settled: boolean
}

/**
 * The state after what became of a firing, paused or not. The firing of another date changes nothing, and
 * neither does what happens to this one later.
 */
export function consumeDate(state: OnceState, receipt: OnceReceipt): OnceState {
  if (state.phase !== 'Pending' || !concernsDate(state, receipt.occurrence) || !consumes(receipt)) return state
  return { at: state.at, phase: 'Consumed', consumed: { at: state.at, firing: receipt.firing } }
}

/**
 * An agent has the occurrence once its Session is launched, not when it is done; one that ends without a launch
 * failed its admission for good. A program has it when it has ended.
 */
function consumes({ target, sessionLaunched, settled }: OnceReceipt): boolean {
  return settled || (target === 'agent' && sessionLaunched)
}

/** True if a firing of this occurrence speaks for the date chosen now: only then may its failure pause it. */
export function concernsDate(state: OnceState, occurrence: string): boolean {
  return normaliseInstant(occurrence) === state.at
}

/** What is to come, for a column: the date, with a word where a pause holds it, or `no pending occurrence`. */
export function describePending(state: OnceState | undefined, paused: boolean): string {
  if (state?.phase !== 'Pending') return noPendingOccurrence
  return paused ? `${state.at} (paused)` : state.at
}

/** What is wrong with the date, in a sentence, or undefined: an entry of the readiness of the Automation. */
export function dateProblem(state: OnceState | undefined): string | undefined {
  if (state?.phase !== 'NotFuture') return undefined
  return `The date ${state.at} of schedule_once had passed when it was chosen; choose a date in the future.`
}
