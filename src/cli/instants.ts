import { normaliseInstant } from '../schedule/instant.ts'
import { localTime } from '../schedule/zone.ts'
import { cannotAsk } from './io.ts'

/** The instant that an option gives: a date and time with its offset, or `now`. */
export function readInstant(option: string, text: string, now: Date): Date {
  if (text === 'now') return now
  const instant = normaliseInstant(text)
  if (instant !== undefined) return new Date(instant)
  throw cannotAsk(
    'usage',
    `${option} ${text} is no instant: write a date and time with its offset, for example 2026-12-01T09:00+01:00 or 2026-12-01T08:00Z`,
  )
}

/** As {@link readInstant}, where the option may be left out. */
export function readOptionalInstant(option: string, text: string | undefined, now: Date): Date | undefined {
  return text === undefined ? undefined : readInstant(option, text, now)
}

/** What a clock in the zone shows, without seconds that are zero: `2026-12-01T09:00+01:00`. */
export function shownLocally(timezone: string, at: Date): string {
  return localTime(timezone, at).replace(/^(.{16}):00/, '$1')
}

/** The same in UTC, without parts of a second that are zero: `2026-12-01T08:00:00Z`. */
export function shownInUtc(at: Date): string {
  return at.toISOString().replace('.000Z', 'Z')
}
