import { CronExpressionParser } from 'cron-parser'
import { type CronField, type CronFieldRule, parseCronField } from './cron-field.ts'

/** A recurring schedule that is known to be due again and again. */
export interface Schedule {
  readonly expression: string
  readonly timezone: string
  readonly fields: CronFields
}

export interface CronFields {
  readonly minute: CronField
  readonly hour: CronField
  readonly dayOfMonth: CronField
  readonly month: CronField
  /** 0 is Sunday. */
  readonly dayOfWeek: CronField
}

export type CronResult =
  | { readonly ok: true; readonly schedule: Schedule }
  | { readonly ok: false; readonly error: string }

const macros: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
}

const months = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const weekdays = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']
const rules = [
  { label: 'minute', min: 0, max: 59 },
  { label: 'hour', min: 0, max: 23 },
  { label: 'day of month', min: 1, max: 31 },
  { label: 'month', min: 1, max: 12, names: months },
  { label: 'day of week', min: 0, max: 7, names: weekdays },
] as const satisfies readonly CronFieldRule[]

/**
 * Reads a cron expression: five fields (minute, hour, day of month, month, day of week) or one of the macros @hourly,
 * @daily, @weekly, @monthly and @yearly, in an IANA time zone. What other dialects add (seconds, `?`, `L`, `W`, `#`,
 * `H`, `@every`, `TZ=`) is refused, and so is what can never be due. The message says what to write instead.
 */
export function parseCron(expression: string, timezone: string): CronResult {
  if (!isTimezone(timezone)) {
    return wrong(`timezone ${JSON.stringify(timezone)} is unknown: write an IANA name such as Europe/Berlin or UTC`)
  }
  const expanded = expression.startsWith('@') ? macros[expression] : expression
  if (expanded === undefined)
    return wrong(`cron ${expression} is not known: the macros are ${Object.keys(macros).join(', ')}`)
  const texts = expanded.split(/[ \t]+/).filter((text) => text !== '')
  if (texts.length !== rules.length) {
    return wrong(
      `cron ${JSON.stringify(expression)} has ${texts.length} fields; it needs five: minute, hour, day of month, month, day of week`,
    )
  }
  const fields: CronField[] = []
  for (const [index, rule] of rules.entries()) {
    const result = parseCronField(texts[index] ?? '', rule)
    if (!result.ok) return wrong(`cron ${JSON.stringify(expression)}: ${result.error}`)
    fields.push(result.field)
  }
  const [minute, hour, dayOfMonth, month, dayOfWeek] = fields as [CronField, CronField, CronField, CronField, CronField]
  const schedule = {
    expression: expanded,
    timezone,
    fields: { minute, hour, dayOfMonth, month, dayOfWeek: withSundayOnce(dayOfWeek) },
  }
  if (canBeDue(schedule.fields)) return { ok: true, schedule }
  return wrong(`cron ${JSON.stringify(expression)} is never due: none of its months has the day ${texts[2]}`)
}

function wrong(error: string): CronResult {
  return { ok: false, error }
}

/** Sunday is both 0 and 7. */
function withSundayOnce(field: CronField): CronField {
  const values = new Set(field.values.map((value) => value % 7))
  return { ...field, values: [...values].sort((a, b) => a - b) }
}

const daysIn = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/**
 * A day restricted beside a weekday is due by either of them. Otherwise some month must have the day; every date falls
 * on every weekday in the course of time.
 */
function canBeDue({ dayOfMonth, dayOfWeek, month }: CronFields): boolean {
  if (!dayOfMonth.starred && !dayOfWeek.starred) return true
  return month.values.some((value) => dayOfMonth.values.some((day) => day <= (daysIn[value - 1] ?? 0)))
}

/** True for a name of the IANA time zone database; offsets such as +02:00 are none. */
function isTimezone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** Days looked at before the search gives up: 29 February on one weekday comes every 28 years, 40 at worst. */
const maxDays = 500

/**
 * The first instant after `after` at which the schedule is due, or undefined where none is found within bounds. Never
 * the instant itself and never one in the past.
 */
export function nextOccurrence(schedule: Schedule, after: Date): Date | undefined {
  try {
    const iterator = CronExpressionParser.parse(schedule.expression, { currentDate: after, tz: schedule.timezone })
    for (let days = 0; days < maxDays; days += 1) {
      const date = iterator.next()
      const due = date.toDate()
      if (due > after && matchesDay(schedule.fields, date.getDate(), date.getDay())) return due
      date.setEndOfDay()
      iterator.reset(date)
    }
  } catch {
    // The library gives up after a bound of its own.
  }
  return undefined
}

/** The library takes a field such as `*\/2` for a restriction, of which either may match; in cron(5) both must. */
function matchesDay({ dayOfMonth, dayOfWeek }: CronFields, day: number, weekday: number): boolean {
  const matchesMonthDay = dayOfMonth.values.includes(day)
  const matchesWeekday = dayOfWeek.values.includes(weekday)
  if (!dayOfMonth.starred && !dayOfWeek.starred) return matchesMonthDay || matchesWeekday
  return matchesMonthDay && matchesWeekday
}
