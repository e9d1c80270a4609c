import { CronExpressionParser } from 'cron-parser'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  countOccurrences,
  latestOccurrence,
  latestOccurrences,
  nextOccurrence,
  occurrencesBetween,
} from '../../../src/schedule/occurrence.ts'
import { oracleOccurrences } from './oracle.ts'
import { expressions, iso, nearNight, scheduleOf } from './schedules.ts'

const hour = 3_600_000

describe('[A-194] [A-234] occurrences agree with an oracle that looks at every minute', () => {
  it('in every zone, near the nights on which its clock changes', () => {
    const interval = fc.integer({ min: 0, max: 48 * 60 })
    fc.assert(
      fc.property(expressions, nearNight, interval, (expression, { timezone, from }, minutes) => {
        const until = new Date(from.getTime() + minutes * 60_000)
        const found = occurrencesBetween(scheduleOf(expression, timezone), from, until, 100_000)
        expect(iso(found)).toEqual(iso(oracleOccurrences(expression, timezone, from, until)))
      }),
      { numRuns: 200 },
    )
  })

  it('in any zone, at any time', () => {
    const zone = fc.constantFrom(...Intl.supportedValuesOf('timeZone'))
    const from = fc.date({ min: new Date('1973-01-01'), max: new Date('2090-01-01'), noInvalidDate: true })
    fc.assert(
      fc.property(expressions, zone, from, (expression, timezone, after) => {
        const until = new Date(after.getTime() + 30 * hour)
        const found = occurrencesBetween(scheduleOf(expression, timezone), after, until, 100_000)
        expect(iso(found)).toEqual(iso(oracleOccurrences(expression, timezone, after, until)))
      }),
      { numRuns: 40 },
    )
  })

  it('and in UTC with cron-parser, where there is no rule for nights to differ in', () => {
    const from = fc.date({ min: new Date('1990-01-01'), max: new Date('2090-01-01'), noInvalidDate: true })
    // What the library reads in another way or not at all: a step such as */2 as a restriction of the day, 30 2 beside
    // a weekday, a value that a list names twice.
    const apart = /^\S+ \S+ (\*.+ |\S+ \S+ \*.|30 2 |31 2 )|\*,/
    const plain = expressions.filter((expression) => !apart.test(expression))
    fc.assert(
      fc.property(plain, from, (expression, after) => {
        const library = CronExpressionParser.parse(expression, { tz: 'UTC', currentDate: after })
        expect(nextOccurrence(scheduleOf(expression), after)?.toISOString()).toBe(library.next().toDate().toISOString())
      }),
    )
  })
})

describe('between any two instants each occurrence once, in order, none invented', () => {
  it('however the interval is cut', () => {
    const cuts = fc.array(fc.integer({ min: 0, max: 60 * 24 * hour }), { maxLength: 12 })
    fc.assert(
      fc.property(expressions, nearNight, cuts, (expression, { timezone, from }, offsets) => {
        const schedule = scheduleOf(expression, timezone)
        const until = new Date(from.getTime() + 60 * 24 * hour)
        const whole = occurrencesBetween(schedule, from, until, 3000)
        const end = whole.length === 3000 ? (whole.at(-1) ?? until) : until
        const ends = [...offsets.map((offset) => new Date(from.getTime() + offset)), end]
          .filter((cut) => cut <= end)
          .sort((a, b) => a.getTime() - b.getTime())
        const pieces = ends.flatMap((cut, index) => occurrencesBetween(schedule, ends[index - 1] ?? from, cut, 3000))
        expect(iso(pieces)).toEqual(iso(whole))
        for (const [index, due] of whole.entries()) expect(due > (whole[index - 1] ?? from)).toBe(true)
      }),
      { numRuns: 60 },
    )
  })

  it('counted, and looked at from behind, they are the same', () => {
    const interval = fc.integer({ min: 0, max: 40 * 24 * 60 })
    const limit = fc.integer({ min: 1, max: 120 })
    fc.assert(
      fc.property(expressions, nearNight, interval, limit, (expression, { timezone, from }, minutes, last) => {
        const schedule = scheduleOf(expression, timezone)
        const until = new Date(from.getTime() + minutes * 60_000)
        const found = occurrencesBetween(schedule, from, until, 100_000)
        expect(countOccurrences(schedule, from, until)).toBe(found.length)
        expect(latestOccurrence(schedule, from, until)).toEqual(found.at(-1))
        expect(iso(latestOccurrences(schedule, from, until, last))).toEqual(iso(found.slice(-last)))
      }),
      { numRuns: 80 },
    )
  })
})

describe('the calendar', () => {
  it.each([
    ['0 9 * * 1-5', '2026-11-30T12:00:00Z', ['2026-12-01T09:00:00.000Z']],
    ['0 9 * * 1-5', '2026-12-04T09:00:00Z', ['2026-12-07T09:00:00.000Z']],
    ['0 0 31 * *', '2026-01-31T00:00:00Z', ['2026-03-31T00:00:00.000Z', '2026-05-31T00:00:00.000Z']],
    ['0 0 30 * *', '2027-01-30T00:00:00Z', ['2027-03-30T00:00:00.000Z', '2027-04-30T00:00:00.000Z']],
    ['0 0 29 * *', '2027-01-29T00:00:00Z', ['2027-03-29T00:00:00.000Z', '2027-04-29T00:00:00.000Z']],
    ['0 0 29 2 *', '2026-01-01T00:00:00Z', ['2028-02-29T00:00:00.000Z', '2032-02-29T00:00:00.000Z']],
    ['0 0 29 2 *', '2096-03-01T00:00:00Z', ['2104-02-29T00:00:00.000Z']],
    ['0 0 29 2 */7', '2072-03-01T00:00:00Z', ['2088-02-29T00:00:00.000Z', '2128-02-29T00:00:00.000Z']],
    ['0 0 30 2 1', '2026-12-01T00:00:00Z', ['2027-02-01T00:00:00.000Z', '2027-02-08T00:00:00.000Z']],
    [
      '0 0 13 * 5',
      '2026-11-28T00:00:00Z',
      ['2026-12-04T00:00:00.000Z', '2026-12-11T00:00:00.000Z', '2026-12-13T00:00:00.000Z'],
    ],
    ['0 0 */2 * 1', '2026-12-01T00:00:00Z', ['2026-12-07T00:00:00.000Z', '2026-12-21T00:00:00.000Z']],
    ['0 0 13 * */7', '2026-12-01T00:00:00Z', ['2026-12-13T00:00:00.000Z', '2027-06-13T00:00:00.000Z']],
    ['30 8 * * 7', '2026-12-01T00:00:00Z', ['2026-12-06T08:30:00.000Z']],
    ['@hourly', '2026-12-31T23:00:00Z', ['2027-01-01T00:00:00.000Z']],
    ['@daily', '2026-12-31T23:00:00Z', ['2027-01-01T00:00:00.000Z', '2027-01-02T00:00:00.000Z']],
    ['@weekly', '2026-12-31T23:00:00Z', ['2027-01-03T00:00:00.000Z', '2027-01-10T00:00:00.000Z']],
    ['@monthly', '2026-12-31T23:00:00Z', ['2027-01-01T00:00:00.000Z', '2027-02-01T00:00:00.000Z']],
    ['@yearly', '2026-12-31T23:00:00Z', ['2027-01-01T00:00:00.000Z', '2028-01-01T00:00:00.000Z']],
  ])('%s after %s', (expression, after, due) => {
    const until = new Date('2200-01-01')
    expect(iso(occurrencesBetween(scheduleOf(expression), new Date(after), until, due.length))).toEqual(due)
  })
})

describe('the search is bounded', () => {
  it.each(['* * * * *', '0 0 29 2 */7', '59 23 31 12 0', '0 0 30 2 1', '0 * 29 2 *'])(
    '%s never loops',
    (expression) => {
      const schedule = scheduleOf(expression, 'Africa/Casablanca')
      for (const after of ['9999-12-31T23:59:00Z', '+275760-09-13T00:00:00Z', 'nonsense']) {
        expect(nextOccurrence(schedule, new Date(after))).toBeUndefined()
      }
      expect(nextOccurrence(schedule, new Date(-8.64e15))?.getUTCFullYear()).toBeLessThan(1980)
      expect(countOccurrences(schedule, new Date('2027-01-01'), new Date('2026-01-01'))).toBe(0)
      expect(latestOccurrence(schedule, new Date('2027-01-01'), new Date('2026-01-01'))).toBeUndefined()
      expect(occurrencesBetween(schedule, new Date('2026-01-01'), new Date(Number.NaN), 3)).toEqual([])
    },
  )

  it('a limit of none is none', () => {
    expect(occurrencesBetween(scheduleOf('* * * * *'), new Date(0), new Date('2026-01-01'), 0)).toEqual([])
  })

  it('millions are counted without being walked', () => {
    const schedule = scheduleOf('* * * * *', 'Europe/Berlin')
    const years = [new Date('2000-01-01'), new Date('2030-01-01')] as const
    expect(countOccurrences(schedule, ...years)).toBe((years[1].getTime() - years[0].getTime()) / 60_000)
  })

  it('ten thousand schedules are read and asked within a second of work', () => {
    const zones = Intl.supportedValuesOf('timeZone')
    const after = new Date('2026-12-01T12:00:30Z')
    const start = process.threadCpuUsage().user
    for (let index = 0; index < 10_000; index += 1) {
      const expression = `${index % 60} ${index % 24} * * ${index % 3 === 0 ? '1-5' : '*'}`
      const due = nextOccurrence(scheduleOf(expression, zones[index % 40]), after)
      if (due === undefined || due <= after) throw new Error(`${expression} is due at ${due}`)
    }
    expect((process.threadCpuUsage().user - start) / 1000).toBeLessThan(1000)
  })
})
