import type { ScheduleStatus } from '../../api/automation.ts'
import { parseCron, type Schedule } from '../../schedule/cron.ts'
import { baselineOf, dueOccurrences } from '../../schedule/due.ts'
import { isSettledFiring } from '../automation-firing/phase.ts'
import {
  baselineFor,
  decideOnce,
  decideSchedule,
  missingFirings,
  newest,
  nothing,
  observe,
  occurrenceOf,
  type ScheduleDecision,
  type ScheduleInput,
  type Trigger,
  uncoveredFirings,
  withoutMade,
} from './schedule.ts'
import { allBetween, recorded, skipCount, withSkipped } from './skipped.ts'

export interface ProbeInput extends ScheduleInput {
  /** The first occurrence that starts from then on is let through. */
  readonly probeAt: Date
  /** A firing that will show how things are is under way. */
  readonly isBusy: boolean
}

/**
 * What the schedule of an Automation asks for that has paused itself because of something that may pass: one occurrence,
 * an ordinary one, and no other before that has settled (N-154). What lies before it was skipped. A date is its only
 * occurrence, and so it is the probe, once both times have come: otherwise nothing would ever show that the cause is gone.
 */
export function decideProbe(input: ProbeInput): ScheduleDecision {
  const { triggers } = input.automation.spec
  const date = triggers.find(({ kind }) => kind === 'schedule_once')
  if (date !== undefined) return decideOnce(input, date, !input.isBusy && input.probeAt <= input.now)
  const trigger = triggers.find(({ kind }) => kind === 'schedule')
  const parsed = trigger && parseCron(trigger.cron ?? '', trigger.timezone ?? '')
  if (trigger === undefined || parsed?.ok !== true) return decideSchedule(input)
  const { next: _, ...observed } = observe(input, trigger)
  if (input.isBusy) return { ...nothing, status: observed }
  const uncovered = uncoveredFirings(input.automation, input.firings, observed.watermark)
  const waiting = uncovered.find((firing) => !isSettledFiring(firing))
  if (waiting === undefined) return choose(input, trigger, parsed.schedule, observed)
  if (input.probeAt > input.now) return { ...nothing, status: observed, after: millisTo(input.probeAt, input) }
  const occurrence = occurrenceOf(waiting)
  const base = baselineOf(baselineFor(input.automation, observed))
  const before = allBetween(parsed.schedule, base, new Date(occurrence.getTime() - 1), 'Paused')
  const skipped = withoutMade(before, uncovered)
  const status = {
    ...observed,
    watermark: (newest(base, occurrence) ?? occurrence).toISOString(),
    ...withSkipped(observed.skipped, skipped),
  }
  return { ...nothing, status, covered: [waiting], counts: skipped.map(skipCount) }
}

/** The occurrence that is the probe, as soon as it is due. */
function choose(input: ProbeInput, trigger: Trigger, schedule: Schedule, observed: ScheduleStatus): ScheduleDecision {
  const { automation, now, probeAt } = input
  const { watermark, baseline } = baselineFor(automation, observed)
  const until = new Date(probeAt.getTime() - 1)
  const { missedOccurrences: missed, jitterSeconds = 0 } = automation.spec
  const due = dueOccurrences({
    schedule,
    watermark,
    baseline: { ...baseline, resumedAt: newest(baseline.resumedAt, until) },
    missed: missed?.policy === 'All' ? { ...missed, policy: 'Latest' } : missed,
    jitterSeconds,
    identity: automation.metadata.uid ?? '',
    now,
  })
  const missing = missingFirings(input, trigger, due)
  if (missing.create.length > 0) return { ...nothing, ...missing }
  const next = due.nextStartAt
  const isDecided = due.watermark !== undefined && due.watermark.getTime() !== watermark?.getTime()
  const slept = isDecided ? allBetween(schedule, baselineOf({ watermark, baseline }), until, 'Paused') : []
  const skipped = [...slept, ...due.skipped.map(recorded)]
  const status = {
    ...observed,
    ...(due.watermark !== undefined && { watermark: due.watermark.toISOString() }),
    ...(next !== undefined && { next: next.toISOString() }),
    ...withSkipped(observed.skipped, skipped),
  }
  return { ...nothing, status, after: next && millisTo(next, input), counts: skipped.map(skipCount) }
}

function millisTo(instant: Date, { now }: ScheduleInput): number {
  return Math.max(0, instant.getTime() - now.getTime())
}
