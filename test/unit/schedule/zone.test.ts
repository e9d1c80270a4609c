import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isTimezone, localTime, spanAt } from '../../../src/schedule/zone.ts'

const zones = fc.constantFrom(...Intl.supportedValuesOf('timeZone'))

describe('spanAt', () => {
  it('gives the offset that Intl gives, in any zone, at any instant', () => {
    const at = fc.date({ min: new Date('1970-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
    fc.assert(
      fc.property(zones, at, (timezone, instant) => {
        const format = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'medium' })
        const second = Math.floor(instant.getTime() / 1000) * 1000
        const shown = Date.parse(`${format.format(second).replace(' ', 'T')}Z`)
        const span = spanAt(timezone, instant.getTime())
        expect(second + span.offset).toBe(shown)
        expect(span.start <= instant.getTime() && instant.getTime() < span.end).toBe(true)
      }),
      { numRuns: 400 },
    )
  })

  it.each([
    ['America/New_York', '2026-03-08T07:00:00.000Z'],
    ['Australia/Lord_Howe', '2026-10-03T15:30:00.000Z'],
    ['Pacific/Apia', '2011-12-30T10:00:00.000Z'],
    ['America/St_Johns', '2010-03-14T03:31:00.000Z'],
    ['Asia/Kathmandu', '1985-12-31T18:30:00.000Z'],
    ['America/Recife', '2000-10-15T02:00:00.000Z'],
  ])('%s changes at %s exactly', (timezone, change) => {
    const at = Date.parse(change)
    expect(spanAt(timezone, at - 1).end).toBe(at)
    expect(spanAt(timezone, at).start).toBe(at)
    expect(spanAt(timezone, at).offset).not.toBe(spanAt(timezone, at - 1).offset)
  })

  it('knows a zone by any case, and nothing that is none', () => {
    expect(isTimezone('europe/BERLIN')).toBe(true)
    expect(isTimezone('+02:00')).toBe(false)
    expect(() => spanAt('Mars/Base', 0)).toThrow('Mars/Base')
  })
})

it.each([
  ['Europe/Berlin', '2026-03-29T01:00:00Z', '2026-03-29T03:00:00+02:00'],
  ['Asia/Kathmandu', '2026-12-01T00:00:00Z', '2026-12-01T05:45:00+05:45'],
  ['America/St_Johns', '2026-12-01T00:00:00Z', '2026-11-30T20:30:00-03:30'],
  ['UTC', '2026-12-01T00:00:00Z', '2026-12-01T00:00:00+00:00'],
])('localTime in %s at %s is %s', (timezone, at, shown) => {
  expect(localTime(timezone, new Date(at))).toBe(shown)
})
