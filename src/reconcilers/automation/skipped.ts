import type { ScheduleStatus, SkippedOccurrences } from '../../api/automation.ts'
import type { Count } from '../../runtime/result.ts'
import type { Schedule } from '../../schedule/cron.ts'
import type { Skipped } from '../../schedule/due.ts'
import { countOccurrences, latestOccurrence, nextOccurrence } from '../../schedule/occurrence.ts'

/** Every occurrence after `base` and up to `until`, as skipped. */
export function allBetween(schedule: Schedule, base: Date, until: Date, reason: string): SkippedOccurrences[] {
  const first = nextOccurrence(schedule, base)
  const last = latestOccurrence(schedule, base, until)
  if (first === undefined || last === undefined || first > until) return []
  return [recorded({ reason, count: countOccurrences(schedule, base, until), first, last })]
}

export function recorded({
  reason,
  count,
  first,
  last,
}: Omit<Skipped, 'reason'> & { reason: string }): SkippedOccurrences {
  return { reason, count, first: first.toISOString(), last: last.toISOString() }
}

const keptSkips = 10

export function withSkipped(
  before: readonly SkippedOccurrences[] | undefined,
  added: readonly SkippedOccurrences[],
): Pick<ScheduleStatus, 'skipped'> {
  const all = [...(before ?? []), ...added].slice(-keptSkips)
  return all.length === 0 ? {} : { skipped: all }
}

/** What the metrics are told of occurrences that do not run. */
export function skipCount({ reason, count }: SkippedOccurrences): Count {
  return { metric: 'occurrencesSkipped', labels: { reason }, times: count }
}
