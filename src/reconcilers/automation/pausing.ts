import { agent } from '../../api/agent.ts'
import type { Automation, ReadinessEntry } from '../../api/automation.ts'
import type { AutomationFiring } from '../../api/automation-firing.ts'
import { annotations } from '../../api/labels.ts'
import type { Failures, Pause } from '../../api/pause.ts'
import { digestJson } from '../../lib/digest.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'
import { beginningOf } from '../../lib/text.ts'
import { snakeCase } from '../../program/reasons.ts'
import type { Count, EventInput, Reader } from '../../runtime/result.ts'
import { concernsDate } from '../../schedule/once.ts'
import { automationHash } from './automation-hash.ts'
import { type Ending, nextFailures, pauseOf } from './failures.ts'
import { pauseNote } from './notice.ts'

type Seen = DeepReadonly<Automation>
type Firing = DeepReadonly<AutomationFiring>

/** What ended a pause (N-162, N-198). */
type Via = 'probe' | 'run_now' | 'owner' | 'change'

/** Whether an Automation pauses itself, and what is to be told of it. */
export interface Pausing {
  readonly failures: Failures
  readonly pause: Pause | undefined
  /** When a pause that was recorded ended. */
  readonly liftedAt: string | undefined
  readonly events: readonly EventInput[]
  readonly counts: readonly Count[]
}

export interface PausingInput {
  readonly automation: Seen
  /** Its firings, all that are known. */
  readonly firings: readonly Firing[]
  readonly readiness: readonly ReadinessEntry[]
  readonly read: Reader
  readonly now: Date
}

/** Looks at how the firings ended. Says once that a pause began, and once that it ended: with the write that records it. */
export function judgePause({ automation, firings, readiness, read, now }: PausingInput): Pausing {
  const { failures: before, pause: pauseBefore } = automation.status ?? {}
  const request = requestOf(automation, readiness)
  const endings = firings.flatMap((firing) => endingOf(automation, firing))
  const isResumed = request === 'granted'
  const found = nextFailures({ before, endings, subject: () => subjectOf(automation, read), isResumed, now })
  const asked = automation.metadata.annotations?.[annotations.resumeRequested]
  const isAnswered = request === 'granted' || request === 'refused'
  const failures = { ...found, ...(isAnswered && asked !== undefined && { resumeSeen: seenAs(asked) }) }
  const pause = pauseOf(failures, endings, pauseBefore)
  const answer = { failures, pause, liftedAt: undefined, events: [], counts: [] }
  if (pause !== undefined && pauseBefore === undefined) return { ...answer, ...begun(automation, firings, pause) }
  if (pause === undefined && pauseBefore !== undefined) {
    return { ...answer, ...ended(automation, liftOf(before, failures, isResumed, now)) }
  }
  if (request === 'refused' && pause !== undefined) return { ...answer, events: [refused(readiness)] }
  return answer
}

/**
 * What becomes of a request to resume, each of which is answered once. A check that failed refuses it; one that
 * could not be made yet is waited for.
 */
function requestOf({ metadata, status }: Seen, readiness: readonly ReadinessEntry[]) {
  const asked = metadata.annotations?.[annotations.resumeRequested]
  if (asked === undefined || seenAs(asked) === status?.failures?.resumeSeen) return 'none'
  if (readiness.some(({ state }) => state === 'Failed')) return 'refused'
  return readiness.length > 0 ? 'waits' : 'granted'
}

/** A request to resume, as it is recorded when it is answered. Anybody may write anything there. */
function seenAs(asked: string): string {
  return beginningOf(asked, 256)
}

/** How a firing ended; nothing for one that has not, or that says nothing about the next one. */
function endingOf(automation: Seen, { metadata, spec, status }: Firing): Ending[] {
  const { phase, settledAt, reason = '', message = '' } = status ?? {}
  if (settledAt === undefined || (phase !== 'Succeeded' && phase !== 'Failed')) return []
  if (isOfFormerDate(automation, spec.occurrence)) return []
  const at = new Date(settledAt).toISOString()
  return [{ firing: metadata.name, at, result: phase, byHand: spec.trigger === 'manual', reason, message }]
}

/** a date that was chosen since is not answerable for it. */
function isOfFormerDate({ spec, status }: Seen, occurrence: string | undefined): boolean {
  const once = status?.schedule?.once
  if (occurrence === undefined || once === undefined) return false
  return spec.triggers.some(({ kind }) => kind === 'schedule_once') && !concernsDate({ ...once }, occurrence)
}

/** What fails: everything that people wrote, `paused` apart, and the version of the Agent that would run now. */
function subjectOf({ metadata, spec }: Seen, read: Reader): string {
  const { paused: _, ...written } = spec
  const target = spec.target.agent
  const isFollowed = target !== undefined && target.version === undefined
  const version = isFollowed ? read.get(agent, `${metadata.namespace}/${target.name}`)?.status?.latestVersion?.name : ''
  return digestJson({ ...written, version: version ?? '' })
}

interface Lift {
  readonly via: Via
  readonly at: string
}

function liftOf(before: DeepReadonly<Failures> | undefined, after: Failures, isResumed: boolean, now: Date): Lift {
  if (isResumed) return { via: 'owner', at: now.toISOString() }
  if (after.clearedAt === undefined || after.clearedAt === before?.clearedAt) {
    return { via: 'run_now', at: after.ranByHandAt ?? now.toISOString() }
  }
  return { via: after.clearedAt === now.toISOString() ? 'change' : 'probe', at: after.clearedAt }
}

function begun(automation: Seen, firings: readonly Firing[], pause: Pause): Pick<Pausing, 'events' | 'counts'> {
  const { reason, streak } = pause
  const note = pauseNote(automation.metadata.name, pause)
  const surface = firings.find(({ metadata }) => metadata.name === pause.firing)?.spec.trigger ?? 'schedule'
  const labels = {
    automation_hash: automationHash(automation.metadata),
    error_code: snakeCase(reason),
    failure_kind: snakeCase(pause.class),
    consecutive_failures: String(streak),
    surface,
  }
  return {
    events: [{ type: 'Warning', reason: 'PausedItself', note, action: 'Pause' }],
    counts: [{ metric: 'automationPaused', labels }],
  }
}

function ended({ metadata }: Seen, { via, at }: Lift): Pick<Pausing, 'events' | 'counts' | 'liftedAt'> {
  return {
    liftedAt: at,
    events: [{ type: 'Normal', reason: 'Resumed', note: resumedBy[via], action: 'Resume' }],
    counts: [{ metric: 'automationResumed', labels: { automation_hash: automationHash(metadata), via } }],
  }
}

const resumedBy: Readonly<Record<Via, string>> = {
  probe: 'A firing succeeded: the pause is over.',
  run_now: 'A firing by hand succeeded: the pause is over.',
  owner: 'Its owner resumed it.',
  change: 'What had failed was changed: the pause is over.',
}

function refused(readiness: readonly ReadinessEntry[]): EventInput {
  const why = readiness.map(({ message }) => message).join(' ')
  const note = `It stays paused, because it is not ready: ${why} Then ask again.`
  return { type: 'Warning', reason: 'ResumeRefused', note, action: 'Resume' }
}
