/**
 * The policy for schedules by its words, as slowly as it can be said: every minute of real time is looked at, and Intl is
 * asked what the clock shows. Shares no code with src/schedule and reads the expression in its own way.
 */

const minute = 60_000
const day = 24 * 60 * minute

/** Occurrences after `after` (exclusive) up to `until` (inclusive), in milliseconds. */
export function oracleOccurrences(expression: string, timezone: string, after: Date, until: Date): number[] {
  const [minutes = '', hours = '', dates = '', months = '', weekdays = ''] = expression.trim().split(/\s+/)
  const matches = matcher(minutes, hours, dates, months, weekdays)
  const firstDay = Math.floor((after.getTime() - 1.5 * day) / day)
  const lastDay = Math.floor((until.getTime() + 0.5 * day) / day)
  const instants: number[] = []
  const walls: number[] = []
  for (let index = firstDay; index <= lastDay; index += 1) {
    for (const [position, wall] of wallsOfDay(timezone, index).entries()) {
      instants.push(index * day + position * minute)
      walls.push(wall)
    }
  }
  const due = hours.startsWith('*') ? intervals(instants, walls, matches) : clockTimes(instants, walls, matches)
  return [...due].filter((at) => at > after.getTime() && at <= until.getTime()).sort((a, b) => a - b)
}

type Matches = (wall: number) => boolean

/** Every real minute whose wall time matches. */
function intervals(instants: number[], walls: number[], matches: Matches): Set<number> {
  return new Set(instants.filter((_, index) => matches(walls[index] ?? Number.NaN)))
}

/** Each wall time once: at the first minute that shows it, or at the first minute after the gap that left it out. */
function clockTimes(instants: number[], walls: number[], matches: Matches): Set<number> {
  const shown = new Map<number, number>()
  for (const [index, wall] of walls.entries()) if (!shown.has(wall)) shown.set(wall, instants[index] ?? Number.NaN)
  const due = new Set<number>()
  const lastWall = walls.at(-1) ?? 0
  let later = 0
  for (let wall = walls[0] ?? 0; wall <= lastWall; wall += minute) {
    while ((walls[later] ?? Number.POSITIVE_INFINITY) <= wall) later += 1
    if (!matches(wall)) continue
    const at = shown.get(wall) ?? instants[later]
    if (at !== undefined) due.add(at)
  }
  return due
}

const cache = new Map<string, number[]>()
const formats = new Map<string, Intl.DateTimeFormat>()

/** What the clock shows at each minute of a UTC day; the Swedish form of a date is 2026-03-29 03:00. */
function wallsOfDay(timezone: string, index: number): number[] {
  const key = `${timezone} ${index}`
  const known = cache.get(key)
  if (known !== undefined) return known
  const format =
    formats.get(timezone) ??
    new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'short' })
  formats.set(timezone, format)
  const walls = Array.from({ length: 1440 }, (_, position) =>
    Date.parse(`${format.format(index * day + position * minute).replace(' ', 'T')}Z`),
  )
  cache.set(key, walls)
  return walls
}

function matcher(minutes: string, hours: string, dates: string, months: string, weekdays: string): Matches {
  const bothRestricted = !dates.startsWith('*') && !weekdays.startsWith('*')
  const isMinute = table(60, (value) => has(minutes, value, 0, 59))
  const isHour = table(24, (value) => has(hours, value, 0, 23))
  const isDate = table(32, (value) => has(dates, value, 1, 31))
  const isMonth = table(13, (value) => has(months, value, 1, 12))
  const isWeekday = table(7, (value) => has(weekdays, value, 0, 7) || (value === 0 && has(weekdays, 7, 0, 7)))
  return (wall) => {
    const shown = new Date(wall)
    if (!isMinute[shown.getUTCMinutes()] || !isHour[shown.getUTCHours()] || !isMonth[shown.getUTCMonth() + 1])
      return false
    const date = isDate[shown.getUTCDate()] === true
    const weekday = isWeekday[shown.getUTCDay()] === true
    return bothRestricted ? date || weekday : date && weekday
  }
}

function table(length: number, holds: (value: number) => boolean): boolean[] {
  return Array.from({ length }, (_, value) => holds(value))
}

function has(field: string, value: number, min: number, max: number): boolean {
  return field.split(',').some((part) => {
    const [range = '', step] = part.split('/')
    const [first = '', last = first] = range.split('-')
    const low = range === '*' ? min : Number(first)
    const high = range === '*' || (step !== undefined && !range.includes('-')) ? max : Number(last)
    return value >= low && value <= high && (value - low) % Number(step ?? 1) === 0
  })
}
