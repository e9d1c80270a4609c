import { type Failure, type Failures, keptFailures, type Pause } from '../../api/pause.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'
import { compareText, shorten } from '../../lib/text.ts'
import { countsToPause, failureClass } from './failure-class.ts'

/** A firing that has ended, as far as pauses depend on it. */
export interface Ending {
  /** Its name, which is the identity of what it was fired for: a repeated event is the same firing (N-136). */
  readonly firing: string
  /** When it settled, in UTC with milliseconds. */
  readonly at: string
  readonly result: 'Succeeded' | 'Failed'
  /** Fired by a person, who sees what comes of it. */
  readonly byHand: boolean
  readonly reason: string
  readonly message: string
}

export interface FailureInput {
  /** What was recorded last. */
  readonly before: DeepReadonly<Failures> | undefined
  /** Firings that have ended, in any order; those that were counted before may be among them. */
  readonly endings: readonly Ending[]
  /** Digest of what fails, asked for where something does. Another one than recorded: its owner changed it. */
  readonly subject: () => string
  /** The owner wants it resumed. */
  readonly isResumed: boolean
  readonly now: Date
}

/** Failures in a row that pause an Automation (N-143, N-153). */
export const failuresToPause = 3

const firstProbeMillis = 15 * 60_000
/** N-154. */
const longestProbeMillis = 6 * 3_600_000

/**
 * What is known of an Automation's failures after a look at its firings. Newest instants and the newest of a set: the
 * order in which firings are seen, how often, and by how many managers does not change it.
 *
 * - Failures in a row are those since the newest success, resume or change of what failed (N-149, N-157).
 * - Firings by hand stay out of the row, whatever becomes of them (N-160).
 */
export function nextFailures({ before, endings, subject, isResumed, now }: FailureInput): Failures {
  const succeeded = endings.filter(({ result }) => result === 'Succeeded')
  const isChanged = before?.subject !== undefined && before.subject !== subject()
  const clearedAt = newest([
    before?.clearedAt,
    ...succeeded.filter(({ byHand }) => !byHand).map(({ at }) => at),
    ...(isResumed || isChanged ? [now.toISOString()] : []),
  ])
  const ranByHandAt = newest([before?.ranByHandAt, ...succeeded.filter(({ byHand }) => byHand).map(({ at }) => at)])
  const row = rowOf([...(before?.row ?? []), ...endings.filter(isCounted)], clearedAt)
  return {
    ...(clearedAt !== undefined && { clearedAt }),
    ...(ranByHandAt !== undefined && { ranByHandAt }),
    ...(row.length > 0 && { row, subject: subject() }),
    ...(before?.resumeSeen !== undefined && { resumeSeen: before.resumeSeen }),
  }
}

function isCounted({ result, byHand, reason }: Ending): boolean {
  return result === 'Failed' && !byHand && countsToPause(reason)
}

/** Each firing once, those that settled last, oldest first. */
function rowOf(failures: readonly DeepReadonly<Failure>[], clearedAt: string | undefined): Failure[] {
  const since = failures.filter(({ at }) => clearedAt === undefined || at > clearedAt)
  const once = new Map(since.map(({ firing, at, reason }) => [firing, { firing, at, reason }]))
  const sorted = [...once.values()].sort((a, b) => compareText(a.at, b.at) || compareText(a.firing, b.firing))
  return sorted.slice(-keptFailures)
}

/**
 * The pause that these failures make, if any. It has the cause of the newest of them, in its own words (N-140).
 * @param before the pause as it was recorded, for what is not to be seen any more
 */
export function pauseOf(
  { row = [], ranByHandAt = '' }: DeepReadonly<Failures>,
  endings: readonly Ending[],
  before: DeepReadonly<Pause> | undefined,
): Pause | undefined {
  const began = row.findIndex((failure, index) => failure.at > ranByHandAt && isEnough(row.slice(0, index + 1)))
  const last = row.at(-1)
  const first = row[began]
  if (first === undefined || last === undefined) return undefined
  const kind = failureClass(last.reason)
  // The beginning of a row that is longer than what is kept is known from before alone.
  const since = row.length === keptFailures ? (before?.since ?? first.at) : first.at
  return {
    reason: last.reason,
    message: messageOf(last, endings, before),
    class: kind === 'Connection' || kind === 'Transient' ? kind : 'Runtime',
    since,
    streak: row.length,
    firing: last.firing,
    ...(kind === 'Transient' && { nextProbe: nextProbe(last.at, row.length) }),
    ...(before?.since === since && before.notice !== undefined && { notice: before.notice }),
  }
}

/** Whether the newest of these failures pauses: a Connection after three that are the same (N-143), the others after three. */
function isEnough(row: DeepReadonly<Failure[]>): boolean {
  const last = row.at(-1)
  if (last === undefined || row.length < failuresToPause) return false
  if (failureClass(last.reason) !== 'Connection') return true
  return row.slice(-failuresToPause).every(({ reason }) => reason === last.reason)
}

/** The wait doubles with every probe that fails, to six hours at most (N-154, N-155). */
function nextProbe(failedAt: string, streak: number): string {
  const wait = Math.min(firstProbeMillis * 2 ** (streak - failuresToPause), longestProbeMillis)
  return new Date(Date.parse(failedAt) + wait).toISOString()
}

function messageOf(
  { firing, reason }: DeepReadonly<Failure>,
  endings: readonly Ending[],
  before: DeepReadonly<Pause> | undefined,
) {
  const said = endings.find((ending) => ending.firing === firing)?.message
  const known = before?.firing === firing ? before.message : undefined
  return shorten(said || known || `It ended with ${reason}.`, 1024)
}

function newest(instants: readonly (string | undefined)[]): string | undefined {
  return instants.reduce((latest, instant) => {
    if (instant === undefined) return latest
    return latest === undefined || instant > latest ? instant : latest
  }, undefined)
}
