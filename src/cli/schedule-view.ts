import type { Automation, SkippedOccurrences } from '../api/automation.ts'
import type { AutomationFiring } from '../api/automation-firing.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { normaliseInstant } from '../schedule/instant.ts'
import { countOccurrences } from '../schedule/occurrence.ts'
import { backfillKey } from './backfill-key.ts'
import { scheduleOf, type TriggerSchedule } from './trigger-schedule.ts'

type Firing = DeepReadonly<AutomationFiring>

/** What is looked at, indexed once for many occurrences. */
export interface ScheduleView {
  readonly automation: DeepReadonly<Automation>
  readonly schedule: TriggerSchedule
  /** Firings of the schedule by the instant of their occurrence. */
  readonly fired: ReadonlyMap<string, Firing>
  /** Firings of backfills, likewise. */
  readonly madeUp: ReadonlyMap<string, Firing>
  readonly skips: readonly KnownSkip[]
  readonly now: Date
}

interface KnownSkip {
  readonly record: DeepReadonly<SkippedOccurrences>
  /** False where some of those between the first and the last had a firing that is gone: which, nobody knows. */
  readonly isWhole: boolean
}

/** @param firings those of any Automation; what is not of this very one is left out */
export function viewOf(automation: DeepReadonly<Automation>, firings: readonly Firing[], now: Date): ScheduleView {
  const { name, uid } = automation.metadata
  const mine = firings.filter(({ spec: { automation: of } }) => of.name === name && (of.uid ?? uid) === uid)
  const fired = new Map(
    mine.filter(({ spec }) => spec.trigger === 'schedule').map((one) => [instantOf(one.spec.occurrence), one]),
  )
  const madeUp = new Map(
    mine.flatMap((one) => {
      const occurrence = backfillKey.occurrenceOf(one.spec.idempotencyKey)
      return occurrence === undefined ? [] : [[occurrence, one] as const]
    }),
  )
  const schedule = scheduleOf(automation.spec.triggers)
  const records = automation.status?.schedule?.skipped ?? []
  const skips = records.map((record) => ({ record, isWhole: isWhole(record, schedule, fired) }))
  return { automation, schedule, fired, madeUp, skips, now }
}

function instantOf(occurrence: string | undefined): string {
  return normaliseInstant(occurrence ?? '') ?? ''
}

/** True where everything in the range that has no firing was skipped. */
function isWhole(
  { count, first, last }: DeepReadonly<SkippedOccurrences>,
  schedule: TriggerSchedule,
  fired: ReadonlyMap<string, Firing>,
): boolean {
  if (schedule.kind !== 'recurring') return false
  const inside = [...fired.keys()].filter((instant) => instant >= first && instant <= last).length
  return countOccurrences(schedule.schedule, new Date(Date.parse(first) - 1), new Date(last)) - inside === count
}
