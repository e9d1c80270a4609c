import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { describeTriggers } from '../../../src/schedule/describe.ts'
import { normaliseInstant } from '../../../src/schedule/instant.ts'

describe('[A-202] normaliseInstant', () => {
  it.each([
    ['2026-12-01T12:00:00-05:00', '2026-12-01T17:00:00.000Z'],
    ['2026-12-01T17:00:00.000Z', '2026-12-01T17:00:00.000Z'],
    ['2026-12-01T17:00Z', '2026-12-01T17:00:00.000Z'],
    ['2026-12-01 17:00:00z', '2026-12-01T17:00:00.000Z'],
    ['2026-12-01T17:00:00.1239Z', '2026-12-01T17:00:00.123Z'],
    ['2028-02-29T00:30:00+01:00', '2028-02-28T23:30:00.000Z'],
  ])('%s is %s', (text, instant) => {
    expect(normaliseInstant(text)).toBe(instant)
  })

  it.each([
    '2026-12-01T17:00:00',
    '2026-12-01',
    '2026-02-30T00:00:00Z',
    '2027-02-29T00:00:00Z',
    '2026-12-01T24:00:00Z',
    '2026-12-01T23:59:60Z',
    '2026-12-01T17:00:00+24:00',
    '2026-12-01T17:00:00 Europe/Berlin',
    'tomorrow',
    '',
  ])('refuses %j', (text) => {
    expect(normaliseInstant(text)).toBeUndefined()
  })

  it('keeps every instant, and what it gives stays as it is', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('0001-01-01'), max: new Date('9999-01-01'), noInvalidDate: true }),
        (date) => {
          expect(normaliseInstant(date.toISOString())).toBe(date.toISOString())
        },
      ),
    )
  })
})

describe('describeTriggers', () => {
  it('says them in words', () => {
    expect(
      describeTriggers([
        { id: 'a', kind: 'schedule', cron: '0 9 * * 1-5', timezone: 'Europe/Berlin' },
        { id: 'b', kind: 'schedule_once', at: '2026-12-01T17:00:00.000Z' },
        { id: 'c', kind: 'manual' },
      ]),
    ).toBe('0 9 * * 1-5 (Europe/Berlin), once at 2026-12-01T17:00:00.000Z, manual')
  })
})
