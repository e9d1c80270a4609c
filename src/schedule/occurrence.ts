import { countWalls, nextWall } from './calendar.ts'
import type { Schedule } from './cron.ts'
import { maxOffset, spanAt } from './zone.ts'

/**
 * When a schedule is due, in real time. The rule for nights on which a zone changes its offset is ours (docs/schedules.md):
 *
 * - A *clock* expression (its hour field does not begin with `*`) is due when the zone's clock shows the time or a later
 *   one for the first time. So a time that is shown twice is due at the first, one that is left out at the first instant
 *   after the gap, and those that fall on one instant are one occurrence.
 * - An *interval* expression is due whenever the clock shows a time that matches, in both passes of a repeated hour, and
 *   never for a time that is left out.
 *
 * Occurrences are always found forward; what looks back searches by halves for the last forward step, so that there is
 * one rule and not two (cron-parser#378: a library whose steps back and forth disagree).
 */

/** Two readings of one zone's clock differ by no more than this from the time that has passed between them. */
const maxSwing = 2 * maxOffset

/** 1970 to 9999. What is asked from earlier on begins here; what is asked from later on has no answer. */
const firstInstant = 0
const lastInstant = Date.UTC(10000, 0, 1) - 1

/** True where the expression means "every so often": a repeated hour counts twice, and a missing one not at all. */
export function isInterval(schedule: Schedule): boolean {
  return schedule.fields.hour.starred
}

/**
 * The first occurrence after `after` (exclusive), or undefined where none is found before the year 10000. Never the
 * instant itself, never one in the past; the search is bounded by the calendar of a hundred years.
 */
export function nextOccurrence(schedule: Schedule, after: Date): Date | undefined {
  const due = next(schedule, Math.max(after.getTime(), firstInstant - 1))
  return due === undefined ? undefined : new Date(due)
}

/** The first `limit` occurrences after `after` (exclusive) and up to `until` (inclusive), in order. */
export function occurrencesBetween(schedule: Schedule, after: Date, until: Date, limit: number): Date[] {
  const found: Date[] = []
  let last = after
  while (found.length < limit) {
    const due = nextOccurrence(schedule, last)
    if (due === undefined || !(due <= until)) break
    found.push(due)
    last = due
  }
  return found
}

/**
 * How many occurrences there are after `after` (exclusive) and up to `until` (inclusive). Exact, and cheap also where
 * there are millions: the work grows with the days between, not with the occurrences.
 */
export function countOccurrences(schedule: Schedule, after: Date, until: Date): number {
  const from = Math.max(after.getTime(), firstInstant - 1) + 1
  const end = Math.min(until.getTime(), lastInstant) + 1
  let count = 0
  let shown = isInterval(schedule) || !(from < end) ? Number.NEGATIVE_INFINITY : furthestWall(schedule, from - 1)
  for (let at = from; at < end; ) {
    const span = spanAt(schedule.timezone, at)
    const stop = Math.min(span.end, end)
    const wall = at + span.offset
    const wallEnd = stop + span.offset
    if (isInterval(schedule)) {
      count += countWalls(schedule.fields, wall, wallEnd)
    } else {
      // Whatever the clock has jumped over falls on this one instant, together with what it shows now.
      count += Math.min(1, countWalls(schedule.fields, shown + 1, wall + 1))
      count += countWalls(schedule.fields, Math.max(shown, wall) + 1, wallEnd)
      shown = Math.max(shown, wallEnd - 1)
    }
    at = stop
  }
  return count
}

/** The last occurrence after `after` (exclusive) and up to `until` (inclusive), or undefined where there is none. */
export function latestOccurrence(schedule: Schedule, after: Date, until: Date): Date | undefined {
  const has = (from: number) => (next(schedule, from) ?? Number.POSITIVE_INFINITY) <= until.getTime()
  const from = lastStart(after.getTime(), until.getTime(), has)
  return from === undefined ? undefined : nextOccurrence(schedule, new Date(from))
}

/** The last `limit` occurrences after `after` (exclusive) and up to `until` (inclusive), in order. */
export function latestOccurrences(schedule: Schedule, after: Date, until: Date, limit: number): Date[] {
  const has = (from: number) => countOccurrences(schedule, new Date(from), until) >= limit
  const from = lastStart(after.getTime(), until.getTime(), has) ?? after.getTime()
  return occurrencesBetween(schedule, new Date(from), until, limit)
}

/**
 * The last millisecond in [`after`, `until`) from which on there is still enough to come, or undefined where not even
 * `after` has enough. Looks near the end first, where the answer mostly is.
 */
function lastStart(after: number, until: number, hasEnough: (from: number) => boolean): number | undefined {
  const earliest = Math.max(after, firstInstant - 1)
  if (!(earliest < until)) return undefined
  let enough = until - 60_000
  let tooFew = until
  while (enough > earliest && !hasEnough(enough)) {
    tooFew = enough
    enough = until - (until - enough) * 2
  }
  if (enough <= earliest) {
    if (!hasEnough(earliest)) return undefined
    enough = earliest
  }
  while (tooFew - enough > 1) {
    const middle = Math.floor((enough + tooFew) / 2)
    if (hasEnough(middle)) enough = middle
    else tooFew = middle
  }
  return enough
}

function next(schedule: Schedule, after: number): number | undefined {
  // Written so that a date that is none is out of bounds too.
  if (!(after < lastInstant)) return undefined
  const due = isInterval(schedule) ? nextShown(schedule, after + 1) : nextReached(schedule, after)
  return due === undefined || due > lastInstant ? undefined : due
}

/** The next instant, from `from` on, at which the clock shows a time that matches. */
function nextShown({ fields, timezone }: Schedule, from: number): number | undefined {
  let at = from
  while (at <= lastInstant) {
    const span = spanAt(timezone, at)
    const wall = nextWall(fields, at + span.offset)
    if (wall === undefined) return undefined
    if (wall < span.end + span.offset) return wall - span.offset
    // Until the clock comes near to that time it shows none that matches, unless it is about to be set back.
    at = span.end - at < maxSwing ? span.end : Math.max(span.end, wall - maxOffset)
  }
  return undefined
}

/** The instant at which the clock shows, for the first time, the next matching time or one after it. */
function nextReached(schedule: Schedule, after: number): number | undefined {
  const wall = nextWall(schedule.fields, furthestWall(schedule, after) + 1)
  return wall === undefined ? undefined : firstReaching(schedule.timezone, wall)
}

/** The latest time that the zone's clock has shown up to and at an instant: before it was set back, it was later. */
export function furthestWall({ timezone }: Schedule, at: number): number {
  let span = spanAt(timezone, at)
  let furthest = at + span.offset
  while (span.start > at - maxSwing) {
    span = spanAt(timezone, span.start - 1)
    furthest = Math.max(furthest, span.end + span.offset - 1)
  }
  return furthest
}

/** The first instant at which the zone's clock shows `wall` or a later time. */
function firstReaching(timezone: string, wall: number): number {
  let span = spanAt(timezone, wall - maxOffset)
  for (;;) {
    if (span.start + span.offset >= wall) return span.start
    if (span.end + span.offset > wall) return wall - span.offset
    span = spanAt(timezone, span.end)
  }
}
