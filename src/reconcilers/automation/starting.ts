import { type AutomationSpec, maxActiveFirings, maxPendingFirings, type PendingFiring } from '../../api/automation.ts'
import type { FiringReference } from '../../api/references.ts'

export interface StartInput {
  readonly policy: AutomationSpec['concurrencyPolicy'] | undefined
  /** Started firings that have not settled. */
  readonly active: readonly FiringReference[]
  /** Decided firings that have not settled. */
  readonly pending: readonly PendingFiring[]
  /** Firings that stand in neither list yet, oldest first. */
  readonly arrived: readonly FiringReference[]
}

export interface Starting {
  readonly active: FiringReference[]
  readonly pending: PendingFiring[]
  /** Started firings that must end before a pending one may start. */
  readonly cancel: readonly FiringReference[]
}

/** The most that one pass of a schedule makes: what it makes up for, what is on time, and what a pass before has left. */
const mostAtOnce = 110

/**
 * While so many wait, a schedule decides nothing: its firings would not fit into the list. What is due stays due, and
 * counts as missed where that lasts.
 */
export const crowdedPending = maxPendingFirings - mostAtOnce

/**
 * Who starts next. The answer takes effect by one compare-and-set on the status of the Automation, so that the
 * concurrency policy is decided once, whoever else decides at the same time.
 *
 * - `Allow` starts all, up to {@link maxActiveFirings} at once; the rest wait.
 * - `Forbid` starts one where none is under way, and skips every other.
 * - `Replace` has what is under way cancelled, and starts the newest once all of it has settled.
 */
export function startFirings(input: StartInput): Starting {
  const queue: PendingFiring[] = [...input.pending, ...input.arrived]
  switch (input.policy ?? 'Allow') {
    case 'Allow':
      return allow(input.active, queue)
    case 'Forbid':
      return forbid(input.active, queue)
    case 'Replace':
      return replace(input.active, queue)
  }
}

function allow(active: readonly FiringReference[], queue: readonly PendingFiring[]): Starting {
  const free = Math.max(0, maxActiveFirings - active.length)
  return { active: [...active, ...queue.slice(0, free).map(reference)], pending: queue.slice(free), cancel: [] }
}

function forbid(active: readonly FiringReference[], queue: readonly PendingFiring[]): Starting {
  const [first, ...others] = queue.filter(isUndecided)
  const decided = queue.filter((one) => !isUndecided(one))
  if (first === undefined) return { active: [...active], pending: decided, cancel: [] }
  const isFree = active.length === 0
  const forbidden = (isFree ? others : [first, ...others]).map((one) => decide(one, 'ConcurrencyForbidden'))
  return { active: isFree ? [reference(first)] : [...active], pending: [...decided, ...forbidden], cancel: [] }
}

function replace(active: readonly FiringReference[], queue: readonly PendingFiring[]): Starting {
  const undecided = queue.filter(isUndecided)
  const newest = undecided.at(-1)
  const decided = queue.filter((one) => !isUndecided(one))
  if (newest === undefined) return { active: [...active], pending: decided, cancel: [] }
  const superseded = undecided.slice(0, -1).map((one) => decide(one, 'Superseded'))
  if (active.length > 0) return { active: [...active], pending: [...decided, ...superseded, newest], cancel: active }
  return { active: [reference(newest)], pending: [...decided, ...superseded], cancel: [] }
}

function isUndecided({ decision }: PendingFiring): boolean {
  return decision === undefined
}

function decide({ name, uid }: PendingFiring, decision: NonNullable<PendingFiring['decision']>): PendingFiring {
  return { name, uid, decision }
}

function reference({ name, uid }: PendingFiring): FiringReference {
  return { name, uid }
}
