import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nextOccurrence, parseCron, type Schedule } from '../../../src/schedule/cron.ts'

function scheduleOf(expression: string, timezone = 'UTC'): Schedule {
  const result = parseCron(expression, timezone)
  if (!result.ok) throw new Error(result.error)
  return result.schedule
}

function next(expression: string, after: string, timezone?: string): string | undefined {
  return nextOccurrence(scheduleOf(expression, timezone), new Date(after))?.toISOString()
}

describe('[A-194] [A-234] parseCron', () => {
  it.each([
    '* * * * *',
    '0 9 * * 1-5',
    '*/15 0-6,20 1,15 JAN-MAR mon,WED',
    '5/20 * * * 7',
    '59 23 31 12 0',
    '0 0 29 2 *',
    '0 0 30 2 1',
    '@hourly',
    '@yearly',
    ' 0  9 * * * ',
  ])('reads %s', (expression) => {
    expect(parseCron(expression, 'Europe/Berlin')).toMatchObject({ ok: true })
  })

  it.each([
    ['six fields', '0 0 9 * * *', 'five'],
    ['four fields', '9 * * *', 'five'],
    ['nothing', '', 'five'],
    ['a question mark', '0 9 ? * *', 'day of month'],
    ['the last day', '0 9 L * *', 'day of month'],
    ['a working day', '0 9 15W * *', 'day of month'],
    ['the third Friday', '0 9 * * 5#3', 'day of week'],
    ['a hash', 'H 9 * * *', 'minute'],
    ['an interval', '@every 5m', 'macros'],
    ['a reboot', '@reboot', 'macros'],
    ['midnight by another name', '@midnight', 'macros'],
    ['a zone in the expression', 'TZ=UTC 0 9 * * *', 'five'],
    ['minute 60', '60 * * * *', 'minute must be from 0 to 59'],
    ['hour 24', '0 24 * * *', 'hour must be from 0 to 23'],
    ['day 0', '0 0 0 * *', 'day of month'],
    ['month 13', '0 0 1 13 *', 'month'],
    ['weekday 8', '0 0 * * 8', 'day of week'],
    ['a step of 0', '*/0 * * * *', 'step'],
    ['a backward range', '0 22-4 * * *', 'backwards'],
    ['a range from a star', '*-5 * * * *', 'minute'],
    ['an empty element', '1,,2 * * * *', 'minute'],
    ['30 February', '0 0 30 2 *', 'never due'],
    ['31 in short months', '0 0 31 4,6,9,11 *', 'never due'],
    ['a month in a field of minutes', 'JAN * * * *', 'minute'],
  ])('refuses %s', (_title, expression, reason) => {
    const result = parseCron(expression, 'UTC')
    expect(result.ok ? '' : result.error).toContain(reason)
  })

  it.each(['Mars/Base', '', '+02:00', 'CET CEST', 'Europe/Berlin '])('refuses the zone %j', (zone) => {
    const result = parseCron('0 9 * * *', zone)
    expect(result.ok ? '' : result.error).toContain('timezone')
  })

  it('never throws', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'0123456789*/,- @JANfriL?#W') }),
        fc.string(),
        (expression, zone) => {
          expect(typeof parseCron(expression, 'UTC').ok).toBe('boolean')
          expect(typeof parseCron('0 9 * * *', zone).ok).toBe('boolean')
        },
      ),
    )
  })
})

describe('nextOccurrence', () => {
  it.each([
    ['0 9 * * 1-5', '2026-11-30T12:00:00Z', '2026-12-01T09:00:00.000Z'],
    ['0 9 * * 1-5', '2026-12-04T09:00:00Z', '2026-12-07T09:00:00.000Z'],
    ['0 0 29 2 *', '2096-03-01T00:00:00Z', '2104-02-29T00:00:00.000Z'],
    ['0 0 13 * 5', '2026-12-01T00:00:00Z', '2026-12-04T00:00:00.000Z'],
    ['0 0 */2 * 1', '2026-12-01T00:00:00Z', '2026-12-07T00:00:00.000Z'],
    ['0 0 13 * */7', '2026-12-01T00:00:00Z', '2026-12-13T00:00:00.000Z'],
    ['* * 29 2 */7', '2026-12-01T00:00:00Z', '2032-02-29T00:00:00.000Z'],
    ['30 8 * * 7', '2026-12-01T00:00:00Z', '2026-12-06T08:30:00.000Z'],
  ])('%s after %s is due at %s', (expression, after, due) => {
    expect(next(expression, after)).toBe(due)
  })

  it('reads the clock of its zone', () => {
    expect(next('0 9 * * *', '2026-12-01T00:00:00Z', 'Europe/Berlin')).toBe('2026-12-01T08:00:00.000Z')
    expect(next('0 9 * * *', '2026-07-01T00:00:00Z', 'Europe/Berlin')).toBe('2026-07-01T07:00:00.000Z')
  })

  it('is always later than asked, and at a minute that matches', () => {
    const minute = fc.integer({ min: 0, max: 59 })
    const hour = fc.integer({ min: 0, max: 23 })
    const after = fc.date({ min: new Date('2020-01-01'), max: new Date('2040-01-01'), noInvalidDate: true })
    fc.assert(
      fc.property(minute, hour, fc.integer({ min: 0, max: 6 }), after, (m, h, weekday, start) => {
        const due = nextOccurrence(scheduleOf(`${m} ${h} * * ${weekday}`), start)
        if (due === undefined) throw new Error('never due')
        expect(due.getTime() - start.getTime()).toBeGreaterThan(0)
        expect(due.getTime() - start.getTime()).toBeLessThanOrEqual(7 * 86_400_000)
        expect([due.getUTCMinutes(), due.getUTCHours(), due.getUTCDay()]).toEqual([m, h, weekday])
      }),
    )
  })
})
