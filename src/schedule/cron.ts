import { type CronField, type CronFieldRule, parseCronField } from './cron-field.ts'
import { isTimezone } from './zone.ts'

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

/** Answers given before: every pass of an Automation asks, and many have the same. */
const known = new Map<string, CronResult>()
const mostKnown = 1000

/**
 * Reads a cron expression: five fields (minute, hour, day of month, month, day of week) or one of the macros @hourly,
 * @daily, @weekly, @monthly and @yearly, in an IANA time zone. What other dialects add (seconds, `?`, `L`, `W`, `#`,
 * `H`, `@every`, `TZ=`) is refused, and so is what can never be due. The message says what to write instead.
 */
export function parseCron(expression: string, timezone: string): CronResult {
  const key = `${timezone} ${expression}`
  const before = known.get(key)
  if (before !== undefined) return before
  const result = parse(expression, timezone)
  if (known.size >= mostKnown) known.clear()
  known.set(key, result)
  return result
}

function parse(expression: string, timezone: string): CronResult {
  if (!isTimezone(timezone)) return wrongZone(timezone, expression)
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

/** Also says what is wrong with the expression, so that both can be corrected at once. */
function wrongZone(timezone: string, expression: string): CronResult {
  const zone = `timezone ${JSON.stringify(timezone)} is unknown: write an IANA name such as Europe/Berlin or UTC`
  const rest = parse(expression, 'UTC')
  return wrong(rest.ok ? zone : `${zone}; ${rest.error}`)
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
