import fc from 'fast-check'
import { parseCron, type Schedule } from '../../../src/schedule/cron.ts'

/** The schedule that an expression stands for; throws for one that is none. */
export function scheduleOf(expression: string, timezone = 'UTC'): Schedule {
  const result = parseCron(expression, timezone)
  if (!result.ok) throw new Error(result.error)
  return result.schedule
}

export function iso(instants: readonly (Date | number)[]): string[] {
  return instants.map((instant) => new Date(instant).toISOString())
}

/** Zones with a night, in UTC, near which their clocks did something. */
export const nights: readonly (readonly [zone: string, near: string])[] = [
  ['UTC', '2026-03-29T01:00Z'],
  ['America/New_York', '2026-03-08T07:00Z'],
  ['America/New_York', '2026-11-01T06:00Z'],
  ['Europe/Berlin', '2026-03-29T01:00Z'],
  ['Europe/Berlin', '2026-10-25T01:00Z'],
  ['Europe/London', '2026-03-29T01:00Z'],
  ['Europe/London', '2026-10-25T01:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T15:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T15:30Z'],
  ['Australia/Sydney', '2026-04-04T16:00Z'],
  ['Australia/Sydney', '2026-10-03T16:00Z'],
  ['Pacific/Apia', '2011-12-30T10:00Z'],
  ['Pacific/Kwajalein', '1993-08-21T12:00Z'],
  ['Africa/Casablanca', '2026-02-15T02:00Z'],
  ['Africa/Casablanca', '2026-03-22T02:00Z'],
  ['America/Sao_Paulo', '2018-11-04T03:00Z'],
  ['America/Sao_Paulo', '2018-02-18T02:00Z'],
  ['Antarctica/Troll', '2026-03-29T01:00Z'],
  ['Antarctica/Troll', '2026-10-25T01:00Z'],
  ['Asia/Kathmandu', '1985-12-31T18:30Z'],
  ['Asia/Kathmandu', '2026-12-31T18:15Z'],
  ['Pacific/Chatham', '2026-04-04T14:00Z'],
  ['Pacific/Chatham', '2026-09-26T14:00Z'],
  ['America/St_Johns', '2010-03-14T03:31Z'],
  ['America/St_Johns', '2026-11-01T04:30Z'],
  ['Asia/Tehran', '2022-03-21T20:30Z'],
  ['Asia/Tehran', '2022-09-21T19:30Z'],
  ['Africa/Cairo', '2026-04-23T22:00Z'],
  ['Africa/Cairo', '2026-10-29T21:00Z'],
  ['America/Havana', '2026-03-08T05:00Z'],
  ['America/Havana', '2026-11-01T05:00Z'],
  ['Asia/Pyongyang', '2015-08-14T15:00Z'],
  ['America/Caracas', '2016-05-01T07:00Z'],
  ['Asia/Gaza', '2040-10-26T23:00Z'],
  ['Pacific/Kiritimati', '1994-12-31T10:00Z'],
]

const minute = fc.oneof(
  fc.constantFrom('*', '*/7', '*/15', '0', '30', '59', '5/20', '0,15,45', '10-40/3', '*,3'),
  fc.integer({ min: 0, max: 59 }).map(String),
)
const hour = fc.oneof(
  fc.constantFrom('*', '*/2', '*/5', '0', '1', '2', '3', '23', '0-23', '2-4', '1,2,23', '0-3/2', '22/1', '*,5'),
  fc.integer({ min: 0, max: 23 }).map(String),
)
const date = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('*') },
  fc.constantFrom('*/2', '*/31', '1', '29', '30', '31', '1-7', '15,30', '2/9'),
)
const month = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('*') },
  fc.constantFrom('*/3', '2', '3', '10-12', '3,4,9', '8/2'),
)
const weekday = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('*') },
  fc.constantFrom('*/2', '*/7', '0', '7', '1-5', '5-7', '0,6', '3/2'),
)

/** Expressions of every sort that are due at some time. */
export const expressions = fc
  .tuple(minute, hour, date, month, weekday)
  .map((fields) => fields.join(' '))
  .filter((expression) => parseCron(expression, 'UTC').ok)

/** A zone and an instant near a night of its own, to the millisecond, now and then at a whole minute. */
export const nearNight = fc
  .record({
    night: fc.constantFrom(...nights),
    minutes: fc.integer({ min: -1600, max: 400 }),
    millis: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 59_999 })),
  })
  .map(({ night: [timezone, near], minutes, millis }) => ({
    timezone,
    from: new Date(Date.parse(near) + minutes * 60_000 + millis),
  }))
