import { countWalls } from './calendar.ts'
import type { Schedule } from './cron.ts'
import { furthestWall, isInterval } from './occurrence.ts'
import { maxOffset, spanAt } from './zone.ts'

/**
 * What a change of the zone's offset did to an occurrence:
 *
 * - `gap`: a time that the clock left out is made up for here, at the first instant after the gap;
 * - `repeated`: the clock shows this time twice. A clock expression is due at the first alone, an interval at both.
 */
export type DstMark = 'gap' | 'repeated'

/** The mark of an occurrence of the schedule, or undefined where no change of offset touches it. */
export function dstMark(schedule: Schedule, occurrence: Date): DstMark | undefined {
  const at = occurrence.getTime()
  const span = spanAt(schedule.timezone, at)
  const wall = at + span.offset
  if (!isInterval(schedule) && span.start === at) {
    if (countWalls(schedule.fields, furthestWall(schedule, at - 1) + 1, wall) > 0) return 'gap'
  }
  return timesShown(schedule.timezone, wall) > 1 ? 'repeated' : undefined
}

/** At how many instants the zone's clock shows a time. */
function timesShown(timezone: string, wall: number): number {
  let count = 0
  for (let at = wall - maxOffset; at <= wall + maxOffset; ) {
    const span = spanAt(timezone, at)
    if (wall >= span.start + span.offset && wall < span.end + span.offset) count += 1
    at = span.end
  }
  return count
}
