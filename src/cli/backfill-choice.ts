import { countOccurrences, occurrencesBetween } from '../schedule/occurrence.ts'
import { type Answer, type Explanation, explainOccurrence } from './explain-occurrence.ts'
import { shownInUtc, shownLocally } from './instants.ts'
import { cannotAsk } from './io.ts'
import type { ScheduleView } from './schedule-view.ts'
import { table } from './table.ts'

export interface Window {
  readonly from: Date
  /** Included. */
  readonly to: Date
  /** Also those of which no record is left. They may have run. */
  readonly unrecorded: boolean
}

/** What a backfill does in a window. */
export interface BackfillChoice {
  readonly timezone: string
  /** Missed occurrences, oldest first. */
  readonly missed: readonly Explanation[]
  /** How many occurrences of the window are left alone, by what became of them. */
  readonly left: Readonly<Partial<Record<Answer, number>>>
}

/** So many occurrences may lie in a window, and so many firings are made at once. */
const maxWindow = 10_000
export const maxBackfill = 100

/**
 * The occurrences of a window that were missed: skipped with a recorded reason, or let pass while the Automation was
 * paused or not ready. What has a firing, was never due, or is still to be decided is left alone; and so is, unless asked
 * for, what has no record any more: it may have run, and would run again.
 */
export function chooseMissed(view: ScheduleView, window: Window): BackfillChoice {
  const { schedule, automation } = view
  const { name } = automation.metadata
  if (schedule.kind === 'once') {
    throw cannotAsk(
      'no_schedule',
      `${name} has one date, which no pause or downtime loses: there is nothing to make up for`,
    )
  }
  if (schedule.kind !== 'recurring')
    throw cannotAsk('no_schedule', `Automation ${name} has no schedule that could have been missed`)
  const after = new Date(window.from.getTime() - 1)
  const size = countOccurrences(schedule.schedule, after, window.to)
  if (size > maxWindow) {
    throw cannotAsk(
      'usage',
      `there are ${size} occurrences from --from to --to, at most ${maxWindow} are looked at: choose a shorter time`,
    )
  }
  const missed: Explanation[] = []
  const left: Partial<Record<Answer, number>> = {}
  for (const occurrence of occurrencesBetween(schedule.schedule, after, window.to, maxWindow)) {
    const found = explainOccurrence(view, occurrence)
    if (isMissed(found.answer, window.unrecorded)) missed.push(found)
    else left[found.answer] = (left[found.answer] ?? 0) + 1
  }
  return { timezone: schedule.schedule.timezone, missed, left }
}

function isMissed(answer: Answer, unrecorded: boolean): boolean {
  if (answer === 'Decided') return unrecorded
  return answer === 'Skipped' || answer === 'BeforeResume'
}

const leftBecause: Readonly<Record<Answer, string>> = {
  Fired: 'with a firing',
  MadeUp: 'made up for before',
  Skipped: 'skipped',
  BeforeCreation: 'before the creation of the Automation',
  BeforeChange: 'before the last change of the schedule',
  BeforeResume: 'before the Automation was resumed',
  NotFuture: 'past when it was chosen',
  Decided: 'of which no record is left, and which may have run; --unrecorded takes these too',
  Upcoming: 'still to come',
  Paused: 'due when the Automation is resumed, or skipped then',
  NotReady: 'due when the Automation is ready, or skipped then',
  Undecided: 'about to be decided',
}

/** What is left alone and why, a line each. */
export function renderLeft({ left }: BackfillChoice): string {
  return Object.entries(left)
    .map(([answer, count]) => `left alone: ${count} ${leftBecause[answer as Answer]}`)
    .join('\n')
}

/** The missed occurrences as a table, with the firing of each where there is one. */
export function renderMissed({ missed, timezone }: BackfillChoice, firings: ReadonlyMap<string, string>): string {
  const withFirings = firings.size > 0
  const rows = missed.map(({ occurrence, summary }) => [
    shownLocally(timezone, new Date(occurrence)),
    shownInUtc(new Date(occurrence)),
    summary,
    ...(withFirings ? [firings.get(occurrence)] : []),
  ])
  return table([`LOCAL (${timezone})`, 'UTC', 'WHAT BECAME OF IT', ...(withFirings ? ['FIRING'] : [])], rows)
}
