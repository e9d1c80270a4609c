import type { AutomationSpec } from '../api/automation.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import type { Schedule } from './cron.ts'
import { startOf } from './jitter.ts'
import {
  countOccurrences,
  latestOccurrence,
  latestOccurrences,
  nextOccurrence,
  occurrencesBetween,
} from './occurrence.ts'

/** `spec.missedOccurrences` of an Automation. */
export type MissedOccurrences = DeepReadonly<NonNullable<AutomationSpec['missedOccurrences']>>

/** What holds where `spec.missedOccurrences` is not set. */
const defaultMissedOccurrences: MissedOccurrences = { policy: 'Latest' }

/** How many missed occurrences `All` makes up for at most where `limit` is not set. */
const defaultMissedLimit = 100

/**
 * An occurrence is on time when it is looked at within this many milliseconds after its start and no later one is due as
 * well. Every other due occurrence was missed. A minute is the resolution of cron, and longer than a standby needs to
 * take over from a leader that died.
 */
export const onTimeMillis = 60_000

export interface ScheduleState {
  readonly schedule: Schedule
  /** The newest occurrence that was decided, as it was recorded; absent before the first. */
  readonly watermark?: Date | undefined
  /** Nothing up to and at any of these is due: neither creating, resuming nor editing fires into the past. */
  readonly baseline: {
    readonly createdAt: Date
    readonly resumedAt?: Date | undefined
    readonly scheduleChangedAt?: Date | undefined
  }
  readonly missed?: MissedOccurrences | undefined
  readonly jitterSeconds: number
  /** UID of the Automation, from which the jitter is derived. */
  readonly identity: string
  readonly now: Date
}

export type SkipReason = 'MissedPolicyNone' | 'Superseded' | 'DeadlineExceeded' | 'LimitExceeded'

/** Occurrences in a row that were due and are not made up for. */
export interface Skipped {
  readonly reason: SkipReason
  readonly count: number
  readonly first: Date
  readonly last: Date
}

export interface DueOccurrence {
  /** The nominal instant, which is the identity of the occurrence. */
  readonly occurrence: Date
  /** The nominal instant plus the jitter; not after `now`. */
  readonly startAt: Date
}

export interface DueDecision {
  /** What starts now, oldest first. */
  readonly fire: readonly DueOccurrence[]
  /** What does not start and why, oldest first; empty where nothing was skipped. */
  readonly skipped: readonly Skipped[]
  /** To be recorded with the firings. The same as before where nothing is due: then nothing needs to be written. */
  readonly watermark: Date | undefined
  /** The nominal instant of the occurrence after those decided; past where only its jitter is waited for. */
  readonly next: Date | undefined
  /** When to look again. */
  readonly nextStartAt: Date | undefined
}

/**
 * Decides what of a recurring schedule is due. Due is what lies after the baseline (the latest of watermark, creation,
 * resume and last change of the schedule; exclusive) and has its start, jitter included, not after `now`. Each due
 * occurrence is either in `fire` or counted in `skipped`, and never looked at again once the watermark is recorded. A clock
 * that jumps back finds nothing before the watermark.
 *
 * - `None` starts an occurrence that is on time and skips what was missed.
 * - `Latest` starts the newest due occurrence, on time or missed, and skips those before it.
 * - `All` starts the newest `limit` of what was missed, and what is on time.
 *
 * With `deadlineSeconds`, nothing starts later than that after its start, jitter included. The caller does not ask for an
 * Automation that is paused or not ready. It creates the firings before it records the watermark; where it fails between
 * the two, the same occurrences are due again and their names say that they exist.
 */
export function dueOccurrences(state: ScheduleState): DueDecision {
  const base = baselineOf(state)
  const newest = newestDue(state, base)
  const decided = newest === undefined ? { fire: [], skipped: [] } : decide(state, base, newest)
  const next = nextOccurrence(state.schedule, newest ?? base)
  return {
    ...decided,
    watermark: newest ?? state.watermark,
    next,
    nextStartAt: next === undefined ? undefined : startFor(state, next),
  }
}

/** The instant up to which nothing is due any more. */
export function baselineOf({ watermark, baseline }: Pick<ScheduleState, 'watermark' | 'baseline'>): Date {
  const { createdAt, resumedAt, scheduleChangedAt } = baseline
  const instants = [watermark, createdAt, resumedAt, scheduleChangedAt].filter((instant) => instant !== undefined)
  return new Date(Math.max(...instants.map((instant) => instant.getTime())))
}

/** The newest occurrence whose start has come. Only the last nominal one can still be waiting for its jitter. */
function newestDue(state: ScheduleState, base: Date): Date | undefined {
  const first = nextOccurrence(state.schedule, base)
  if (first === undefined || startFor(state, first) > state.now) return undefined
  const newest = latestOccurrence(state.schedule, base, state.now)
  if (newest === undefined || startFor(state, newest) <= state.now) return newest
  return latestOccurrence(state.schedule, base, before(newest))
}

function decide(state: ScheduleState, base: Date, newest: Date): Pick<DueDecision, 'fire' | 'skipped'> {
  const { schedule, missed = defaultMissedOccurrences } = state
  const isOnTime = state.now.getTime() - startFor(state, newest).getTime() <= onTimeMillis
  const lastMissed = isOnTime ? before(newest) : newest
  const skipped: Skipped[] = []
  let from = base
  const skipUntil = (until: Date, reason: SkipReason) => {
    skipped.push(...skippedBetween(schedule, from, until, reason))
    if (until > from) from = until
  }
  if (missed.policy === 'None') skipUntil(lastMissed, 'MissedPolicyNone')
  if (missed.deadlineSeconds !== undefined)
    skipUntil(lastExpired(state, from, newest, missed.deadlineSeconds), 'DeadlineExceeded')
  if (missed.policy === 'Latest') skipUntil(before(newest), 'Superseded')
  if (missed.policy === 'All') {
    const [oldest] = latestOccurrences(schedule, from, lastMissed, missed.limit ?? defaultMissedLimit)
    if (oldest !== undefined) skipUntil(before(oldest), 'LimitExceeded')
  }
  const fire = occurrencesBetween(schedule, from, newest, (missed.limit ?? defaultMissedLimit) + 1)
  return { fire: fire.map((occurrence) => ({ occurrence, startAt: startFor(state, occurrence) })), skipped }
}

/** The last instant up to which every due occurrence is later than the deadline allows. */
function lastExpired(state: ScheduleState, from: Date, newest: Date, deadlineSeconds: number): Date {
  const cutoff = state.now.getTime() - deadlineSeconds * 1000
  const last = latestOccurrence(state.schedule, from, new Date(Math.min(cutoff - 1, newest.getTime())))
  if (last === undefined) return from
  return startFor(state, last).getTime() < cutoff ? last : before(last)
}

function skippedBetween(schedule: Schedule, after: Date, until: Date, reason: SkipReason): Skipped[] {
  const first = nextOccurrence(schedule, after)
  const last = latestOccurrence(schedule, after, until)
  if (first === undefined || last === undefined) return []
  return [{ reason, count: countOccurrences(schedule, after, until), first, last }]
}

function startFor({ schedule, jitterSeconds, identity }: ScheduleState, occurrence: Date): Date {
  return startOf(schedule, occurrence, jitterSeconds, identity)
}

function before(instant: Date): Date {
  return new Date(instant.getTime() - 1)
}
