import type { Automation, SkippedOccurrences } from '../api/automation.ts'
import type { AutomationFiring } from '../api/automation-firing.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import type { Schedule } from '../schedule/cron.ts'
import { startOf } from '../schedule/jitter.ts'
import { holdOf } from './hold.ts'
import { shownInUtc } from './instants.ts'
import type { ScheduleView } from './schedule-view.ts'

type Firing = DeepReadonly<AutomationFiring>

/**
 * What became of one occurrence:
 *
 * - `Fired`: it has a firing. `MadeUp`: it has none of its own, and one of a backfill.
 * - `Skipped`: the schedule recorded why it did not start.
 * - `BeforeCreation`, `BeforeChange`, `BeforeResume`: it was not due, because it lies before one of these. `NotFuture`: so
 *   does a date that had passed when it was chosen.
 * - `Decided`: it was decided and no record is left: it ran and its firing was pruned, or its skip is no longer kept.
 * - `Upcoming`: it is still to come, jitter included.
 * - `Paused`, `NotReady`: it was due, and this keeps it from being decided.
 * - `Undecided`: it is due, and the manager has not looked at it yet.
 */
export const answers = [
  'Fired',
  'MadeUp',
  'Skipped',
  'BeforeCreation',
  'BeforeChange',
  'BeforeResume',
  'NotFuture',
  'Decided',
  'Upcoming',
  'Paused',
  'NotReady',
  'Undecided',
] as const
export type Answer = (typeof answers)[number]

export interface Explanation {
  /** The nominal instant, in UTC with milliseconds. */
  readonly occurrence: string
  readonly answer: Answer
  /** The answer in a few words, and why in a sentence. */
  readonly summary: string
  readonly why: string
  readonly firing: string | null
  /** The record that covers it, where it was skipped. */
  readonly skipped: DeepReadonly<SkippedOccurrences> | null
}

/** Says what became of one occurrence of the schedule. Pure: only what is recorded counts. */
export function explainOccurrence(view: ScheduleView, occurrence: Date): Explanation {
  const instant = occurrence.toISOString()
  const own = view.fired.get(instant)
  if (own !== undefined) return byFiring(instant, own)
  const found = view.schedule.kind === 'once' ? explainDate(view, occurrence) : explainRecurring(view, occurrence)
  const backfill = view.madeUp.get(instant)
  if (backfill === undefined) return found
  return {
    ...found,
    answer: 'MadeUp',
    summary: `made up for by hand as ${told(backfill)}`,
    why: `${found.summary}: ${found.why}`,
    firing: backfill.metadata.name,
  }
}

function byFiring(occurrence: string, firing: Firing): Explanation {
  const { metadata, status } = firing
  const phase = status?.phase ?? 'Pending'
  const verb = { Pending: 'made and not started yet:', Skipped: 'not run:' }[phase as string] ?? 'ran as'
  return {
    occurrence,
    answer: 'Fired',
    summary: `${verb} ${told(firing)}`,
    why: status?.message ?? firingHints[phase] ?? '',
    firing: metadata.name,
    skipped: null,
  }
}

const firingHints: Readonly<Record<string, string>> = {
  Pending: 'The Automation has not started it yet.',
  Running: 'Its steps are under way.',
  Succeeded: 'All its steps that were to run have completed.',
}

/** `nightly-…: Failed (ExitCode)` */
function told({ metadata, status }: Firing): string {
  const reason = status?.reason === undefined ? '' : ` (${status.reason})`
  return `${metadata.name}: ${status?.phase ?? 'Pending'}${reason}`
}

type Verdict = Omit<Explanation, 'occurrence' | 'firing' | 'skipped'> & Partial<Pick<Explanation, 'firing' | 'skipped'>>

function explanation(occurrence: Date, verdict: Verdict): Explanation {
  return { occurrence: occurrence.toISOString(), firing: null, skipped: null, ...verdict }
}

function explainRecurring(view: ScheduleView, occurrence: Date): Explanation {
  const verdict =
    beforeItsTime(view, occurrence) ??
    skippedBy(view, occurrence) ??
    alreadyDecided(view, occurrence) ??
    open(view, occurrence)
  return explanation(occurrence, verdict)
}

/** What is not due in hindsight, neither of a new Automation nor of a changed schedule. */
function beforeItsTime({ automation }: ScheduleView, occurrence: Date): Verdict | undefined {
  const { creationTimestamp } = automation.metadata
  if (creationTimestamp !== undefined && occurrence <= new Date(creationTimestamp)) {
    return {
      answer: 'BeforeCreation',
      summary: 'not due: before its creation',
      why: `The Automation was created at ${creationTimestamp}; nothing before that is due.`,
    }
  }
  const changedAt = automation.status?.schedule?.changedAt
  if (changedAt === undefined || occurrence > new Date(changedAt)) return undefined
  return {
    answer: 'BeforeChange',
    summary: 'not due: before the last change of the schedule',
    why: `The schedule was changed at ${shownInUtc(new Date(changedAt))}; editing it never fires into the past.`,
  }
}

const skipReasons: Readonly<Record<string, string>> = {
  Superseded: 'a later one was due as well when they were looked at, and missedOccurrences.policy is Latest',
  MissedPolicyNone: 'nothing was there to start them on time, and missedOccurrences.policy is None',
  DeadlineExceeded: 'the manager came to it later than missedOccurrences.deadlineSeconds allows',
  LimitExceeded: 'more were missed than missedOccurrences.limit makes up for',
  Paused: 'the Automation was paused at that time',
  NotReady: 'the Automation was not ready at that time',
}

function skippedBy({ skips, automation }: ScheduleView, occurrence: Date): Verdict | undefined {
  const instant = occurrence.toISOString()
  const found = skips.findLast(({ record }) => instant >= record.first && instant <= record.last)
  if (found === undefined) return undefined
  const { reason, count, first, last } = found.record
  const range =
    count === 1
      ? `at ${shownInUtc(new Date(first))}`
      : `from ${shownInUtc(new Date(first))} to ${shownInUtc(new Date(last))}`
  const why = skipReasons[reason] ?? `the schedule of ${automation.metadata.name} recorded this reason`
  if (found.isWhole) {
    const part = count === 1 ? 'the only one' : `one of ${count} ${range}`
    return {
      answer: 'Skipped',
      summary: `skipped: ${reason} (${part})`,
      why: `${capital(why)}.`,
      skipped: found.record,
    }
  }
  return {
    answer: 'Decided',
    summary: `probably skipped: ${reason} (${count} of those ${range})`,
    why: `Some of these ran, and their firings were pruned since; the others did not start: ${why}.`,
    skipped: found.record,
  }
}

function alreadyDecided({ automation }: ScheduleView, occurrence: Date): Verdict | undefined {
  const { watermark, resumedAt } = automation.status?.schedule ?? {}
  if (watermark !== undefined && occurrence <= new Date(watermark)) {
    return {
      answer: 'Decided',
      summary: 'decided, and no record of it is left',
      why: 'It ran and its firing was pruned since, or it was skipped and that is not kept any more.',
    }
  }
  if (resumedAt === undefined || occurrence > new Date(resumedAt)) return undefined
  return {
    answer: 'BeforeResume',
    summary: 'not run: the Automation was paused or not ready',
    why: `It was resumed at ${shownInUtc(new Date(resumedAt))}; what was due before that does not start by itself.`,
  }
}

/** What nobody has decided: it is to come, held, or late. */
function open({ automation, schedule, now }: ScheduleView, occurrence: Date): Verdict {
  const startAt = schedule.kind === 'recurring' ? jittered(schedule.schedule, automation, occurrence) : occurrence
  if (startAt > now) {
    const summary = occurrence > now ? 'still to come' : 'due, and waits for its jitter'
    return {
      answer: 'Upcoming',
      summary,
      why: `It starts at ${shownInUtc(startAt)}, if nothing stands in the way then.`,
    }
  }
  return holdOf(automation) ?? undecided
}

const undecided: Verdict = {
  answer: 'Undecided',
  summary: 'due, and not decided yet',
  why: 'The manager decides it within a moment. If that does not happen, see whether the manager runs.',
}

function jittered(schedule: Schedule, { metadata, spec }: DeepReadonly<Automation>, occurrence: Date): Date {
  return startOf(schedule, occurrence, spec.jitterSeconds ?? 0, metadata.uid ?? '')
}

/** The one occurrence of a date: it survives pauses and downtime, and is consumed once. */
function explainDate(view: ScheduleView, at: Date): Explanation {
  const seen = view.automation.status?.schedule?.once
  const instant = at.toISOString()
  if (seen?.consumed?.at === instant) {
    const { firing } = seen.consumed
    return explanation(at, {
      answer: 'Decided',
      summary: `consumed by ${firing}`,
      why: 'The firing was pruned since. Only another date in the future makes a new occurrence.',
      firing,
    })
  }
  if (seen?.at === instant && seen.phase === 'NotFuture') {
    return explanation(at, {
      answer: 'NotFuture',
      summary: 'not due: the date had passed when it was chosen',
      why: 'Choose a date in the future.',
    })
  }
  return explanation(at, open(view, at))
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}
