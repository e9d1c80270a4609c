import type { CronFields } from './cron.ts'

/**
 * Which times of the calendar a cron expression names, without a zone. A wall time is what a clock shows, written as the
 * milliseconds since 1970 at which a clock in UTC shows it.
 */

const minuteMillis = 60_000
const minutesOfDay = 1440
const dayMillis = minutesOfDay * minuteMillis

/** Years searched for a day. The rarest, 29 February on one weekday, comes after 40 years at the latest. */
const maxYears = 100

/** The first wall time from `from` on (itself included) that the fields name, or undefined where none is found. */
export function nextWall(fields: CronFields, from: number): number | undefined {
  const first = Math.ceil(from / minuteMillis)
  const today = Math.floor(first / minutesOfDay)
  if (matchesDay(fields, today)) {
    const time = nextTime(fields, first - today * minutesOfDay)
    if (time !== undefined) return today * dayMillis + time * minuteMillis
  }
  const next = nextDay(fields, today + 1)
  return next === undefined ? undefined : next * dayMillis + (nextTime(fields, 0) ?? 0) * minuteMillis
}

/** How many wall times the fields name from `from` on and before `to`. Takes time by the day, not by the minute. */
export function countWalls(fields: CronFields, from: number, to: number): number {
  const first = Math.ceil(from / minuteMillis)
  const end = Math.ceil(to / minuteMillis)
  if (end <= first) return 0
  const firstDay = Math.floor(first / minutesOfDay)
  const lastDay = Math.floor(end / minutesOfDay)
  let count = timesOfDay(fields) * countDays(fields, firstDay, lastDay)
  if (matchesDay(fields, firstDay)) count -= timesBefore(fields, first - firstDay * minutesOfDay)
  if (matchesDay(fields, lastDay)) count += timesBefore(fields, end - lastDay * minutesOfDay)
  return count
}

/** The first minute of the day from `from` on, or undefined where there is none on the same day. */
function nextTime({ hour, minute }: CronFields, from: number): number | undefined {
  const fromHour = Math.floor(from / 60)
  for (const value of hour.values) {
    if (value < fromHour) continue
    const fromMinute = value === fromHour ? from % 60 : 0
    const found = minute.values.find((candidate) => candidate >= fromMinute)
    if (found !== undefined) return value * 60 + found
  }
  return undefined
}

function timesOfDay({ hour, minute }: CronFields): number {
  return hour.values.length * minute.values.length
}

/** How many times of a day are before the minute `end` of it. */
function timesBefore({ hour, minute }: CronFields, end: number): number {
  const endHour = Math.floor(end / 60)
  const hoursBefore = hour.values.filter((value) => value < endHour).length
  if (!hour.values.includes(endHour)) return hoursBefore * minute.values.length
  return hoursBefore * minute.values.length + minute.values.filter((value) => value < end % 60).length
}

function countDays(fields: CronFields, from: number, to: number): number {
  let count = 0
  for (let found = nextDay(fields, from); found !== undefined && found < to; found = nextDay(fields, found + 1)) {
    count += 1
  }
  return count
}

/** The first day that matches, from `from` on; days are counted from 1 January 1970. */
function nextDay(fields: CronFields, from: number): number | undefined {
  const date = new Date(from * dayMillis)
  let year = date.getUTCFullYear()
  let month = date.getUTCMonth() + 1
  let dayOfMonth = date.getUTCDate()
  for (const lastYear = year + maxYears; year <= lastYear; ) {
    if (fields.month.values.includes(month)) {
      const before = Date.UTC(year, month - 1, 1) / dayMillis - 1
      for (const last = daysIn(year, month); dayOfMonth <= last; dayOfMonth += 1) {
        if (matchesDate(fields, dayOfMonth, weekday(before + dayOfMonth))) return before + dayOfMonth
      }
    }
    dayOfMonth = 1
    month = month === 12 ? 1 : month + 1
    if (month === 1) year += 1
  }
  return undefined
}

function matchesDay(fields: CronFields, days: number): boolean {
  const date = new Date(days * dayMillis)
  return (
    fields.month.values.includes(date.getUTCMonth() + 1) && matchesDate(fields, date.getUTCDate(), date.getUTCDay())
  )
}

/** As in cron(5): either of two restricted fields will do; beside a field that begins with `*` both must match. */
function matchesDate({ dayOfMonth, dayOfWeek }: CronFields, date: number, weekdayOfDate: number): boolean {
  const matchesDayOfMonth = dayOfMonth.values.includes(date)
  const matchesDayOfWeek = dayOfWeek.values.includes(weekdayOfDate)
  if (!dayOfMonth.starred && !dayOfWeek.starred) return matchesDayOfMonth || matchesDayOfWeek
  return matchesDayOfMonth && matchesDayOfWeek
}

/** 1 January 1970 was a Thursday. */
function weekday(days: number): number {
  return (((days + 4) % 7) + 7) % 7
}

function daysIn(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate()
}
