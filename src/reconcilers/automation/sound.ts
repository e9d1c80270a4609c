import type { Automation, AutomationStatus, ScheduleStatus } from '../../api/automation.ts'
import type { Failures } from '../../api/pause.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'
import { normaliseInstant } from '../../schedule/instant.ts'

type Seen = DeepReadonly<Automation>

/** What was recorded so much later than now was recorded by a clock that was wrong, milliseconds. */
const farAheadMillis = 86_400_000

/**
 * The Automation with a status that can be gone by. Whoever may write a status can write there what is no instant, and a
 * clock of the API server that was years ahead leaves instants that are years away: without this, one is an error in every
 * pass and the other a schedule that is silent until then, and nobody is told of either.
 *
 * Where up to when everything is decided is not known any more, it is up to now: nothing starts twice, and what is due from
 * now on starts.
 */
export function withSoundStatus(automation: Seen, now: Date): Seen {
  const { status } = automation
  if (status === undefined) return automation
  const { schedule, failures, last, ...others } = status
  const isSound = (instant: string | undefined) => instant === undefined || isCredible(instant, now)
  const sound: DeepReadonly<AutomationStatus> = {
    ...others,
    ...(schedule !== undefined && { schedule: soundSchedule(schedule, now, isSound) }),
    ...(failures !== undefined && { failures: soundFailures(failures, isSound) }),
    ...(last !== undefined && isSound(last.time) && { last }),
  }
  return { ...automation, status: sound }
}

/** An instant that can have been recorded by a clock that was right. */
export function isCredible(instant: string, now: Date): boolean {
  const normal = normaliseInstant(instant)
  return normal !== undefined && Date.parse(normal) - now.getTime() <= farAheadMillis
}

type IsSound = (instant: string | undefined) => boolean

function soundSchedule(
  schedule: DeepReadonly<ScheduleStatus>,
  now: Date,
  isSound: IsSound,
): DeepReadonly<ScheduleStatus> {
  const { digest, changedAt, watermark, resumedAt, next, ...others } = schedule
  const isKnown = [changedAt, watermark, resumedAt].every(isSound)
  return {
    ...others,
    // A schedule that is not the recorded one has just changed: when, is looked up then.
    digest: isSound(changedAt) ? digest : '',
    changedAt,
    ...(watermark !== undefined && { watermark }),
    ...(!isKnown && { watermark: now.toISOString() }),
    // Left out it would stay: whoever wrote it owns it too.
    ...(resumedAt !== undefined && { resumedAt: isSound(resumedAt) ? resumedAt : now.toISOString() }),
    ...(next !== undefined && isKnown && { next }),
  }
}

function soundFailures(failures: DeepReadonly<Failures>, isSound: IsSound): DeepReadonly<Failures> {
  const { clearedAt, ranByHandAt, row, ...others } = failures
  return {
    ...others,
    ...(clearedAt !== undefined && isSound(clearedAt) && { clearedAt }),
    ...(ranByHandAt !== undefined && isSound(ranByHandAt) && { ranByHandAt }),
    ...(row !== undefined && { row: row.filter(({ at }) => isSound(at)) }),
  }
}
