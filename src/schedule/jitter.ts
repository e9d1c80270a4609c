import { createHash } from 'node:crypto'
import type { Schedule } from './cron.ts'
import { nextOccurrence } from './occurrence.ts'

/**
 * When an occurrence is to start: its nominal time plus a part of `jitterSeconds` that depends on the Automation and the
 * occurrence alone, so that every manager and every restart gives the same. To the millisecond, less than
 * `jitterSeconds`, and always before the next occurrence: starts keep the order of their occurrences, and at most one
 * is waited for at a time. The occurrence keeps its nominal time.
 * @param identity UID of the Automation
 */
export function startOf(schedule: Schedule, occurrence: Date, jitterSeconds: number, identity: string): Date {
  if (jitterSeconds <= 0) return occurrence
  const following = nextOccurrence(schedule, occurrence)
  const distance = following === undefined ? Number.POSITIVE_INFINITY : following.getTime() - occurrence.getTime()
  const room = Math.min(jitterSeconds * 1000, distance)
  return new Date(occurrence.getTime() + Math.floor(fraction(identity, occurrence) * room))
}

/** From 0 up to, but not, 1; evenly spread. */
function fraction(identity: string, occurrence: Date): number {
  const hash = createHash('sha256').update(`${identity} ${occurrence.toISOString()}`).digest()
  return hash.readUInt32BE() / 2 ** 32
}
