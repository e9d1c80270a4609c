/**
 * Time zones as stretches of one offset from UTC. All that is known of a zone comes from Intl, asked rarely: a year of a
 * zone is looked at once and kept, so that the arithmetic of schedules asks nobody.
 */

/** A stretch of time, in milliseconds since 1970, through which a zone has one offset. The end does not belong to it. */
export interface Span {
  readonly start: number
  readonly end: number
  /** What the zone's clock shows is the instant plus this many milliseconds. */
  readonly offset: number
}

interface Zone {
  readonly format: Intl.DateTimeFormat
  readonly years: Map<number, readonly Span[]>
}

const second = 1000
const minute = 60 * second
const hour = 60 * minute

/** No zone was ever this far from UTC, in either direction. */
export const maxOffset = 16 * hour

/** The shortest time between two changes of a zone since 1970 is just under seven days (Brazil 2000, Gaza 2040). */
const probe = 5 * 24 * hour

/** By lower-case name: Intl does not care about case, and every spelling would otherwise be a zone of its own. */
const zones = new Map<string, Zone>()

/** True for a name of the IANA time zone database; offsets such as +02:00 are none. */
export function isTimezone(name: string): boolean {
  return /^[A-Za-z]/.test(name) && zoneNamed(name) !== undefined
}

function zoneNamed(name: string): Zone | undefined {
  const key = name.toLowerCase()
  const known = zones.get(key)
  if (known !== undefined) return known
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' })
    const zone = { format, years: new Map() }
    zones.set(key, zone)
    return zone
  } catch {
    return undefined
  }
}

/**
 * The stretch of one offset in which an instant lies; cut at the turn of each UTC year, where the next may go on with the
 * same offset.
 * @param at milliseconds since 1970, from 1969 on
 * @throws RangeError for a zone that {@link isTimezone} does not know
 */
export function spanAt(timezone: string, at: number): Span {
  const zone = zoneNamed(timezone)
  if (zone === undefined) throw new RangeError(`unknown time zone ${JSON.stringify(timezone)}`)
  const year = new Date(at).getUTCFullYear()
  let spans = zone.years.get(year)
  if (spans === undefined) {
    spans = spansOfYear(zone.format, year)
    zone.years.set(year, spans)
  }
  for (const span of spans) if (at < span.end) return span
  throw new RangeError(`no time zone offset at ${at}`)
}

function spansOfYear(format: Intl.DateTimeFormat, year: number): readonly Span[] {
  const end = Date.UTC(year + 1, 0, 1)
  const spans: Span[] = []
  let start = Date.UTC(year, 0, 1)
  let offset = offsetAt(format, start)
  for (let at = start; at < end - second; ) {
    const next = Math.min(at + probe, end - second)
    if (offsetAt(format, next) === offset) {
      at = next
      continue
    }
    const change = firstChange(format, at, next, offset)
    spans.push({ start, end: change, offset })
    start = change
    at = change
    offset = offsetAt(format, change)
  }
  return [...spans, { start, end, offset }]
}

/** The first second in (`from`, `to`] at which the offset is another. */
function firstChange(format: Intl.DateTimeFormat, from: number, to: number, offset: number): number {
  let before = from
  let after = to
  while (after - before > second) {
    const middle = before + Math.floor((after - before) / 2 / second) * second
    if (offsetAt(format, middle) === offset) before = middle
    else after = middle
  }
  return after
}

/** Reads `GMT`, `GMT+05:45` and, of years long gone, `GMT-00:44:30`. */
function offsetAt(format: Intl.DateTimeFormat, at: number): number {
  const match = /GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?$/.exec(format.format(at))
  const [, sign, hours = '0', minutes = '0', seconds = '0'] = match ?? []
  const offset = Number(hours) * hour + Number(minutes) * minute + Number(seconds) * second
  return sign === '-' ? -offset : offset
}

/** What the zone's clock shows at an instant, to the second, with its offset: `2026-03-29T03:00:00+02:00`. */
export function localTime(timezone: string, at: Date): string {
  const { offset } = spanAt(timezone, at.getTime())
  const wall = new Date(at.getTime() + offset).toISOString().slice(0, 19)
  const minutes = Math.floor(Math.abs(offset) / minute)
  const twoDigits = (value: number) => String(value).padStart(2, '0')
  return `${wall}${offset < 0 ? '-' : '+'}${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`
}
