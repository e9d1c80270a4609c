import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseCron } from '../../../src/schedule/cron.ts'

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

  it('says what is wrong with the expression beside an unknown zone', () => {
    const result = parseCron('0 0 9 * * *', 'Mars/Base')
    expect(result.ok ? '' : result.error).toMatch(/^timezone "Mars\/Base" is unknown: .*; cron .* has 6 fields/)
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
