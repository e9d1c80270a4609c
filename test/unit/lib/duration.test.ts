import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatDuration, formatSpan } from '../../../src/lib/duration.ts'

const s = 1000
const m = 60 * s
const h = 60 * m

describe('durations for people', () => {
  it.each([
    [-5, '0s'],
    [999, '0s'],
    [12 * s + 900, '12s'],
    [m, '1m'],
    [3 * m + 5 * s, '3m5s'],
    [59 * m + 59 * s, '59m59s'],
    [2 * h + 10 * m + 59 * s, '2h10m'],
    [24 * h, '1d'],
    [4 * 24 * h + 3 * h, '4d3h'],
  ])('%i ms is %s', (millis, text) => {
    expect(formatDuration(millis)).toBe(text)
  })

  it('is cut, never rounded: it loses less than its smallest unit', () => {
    const units: Record<string, number> = { s, m, h, d: 24 * h }
    fc.assert(
      fc.property(fc.nat({ max: 400 * 24 * h }), (millis) => {
        const parts = [...formatDuration(millis).matchAll(/(\d+)([smhd])/g)]
        const value = parts.reduce((sum, [, count, unit]) => sum + Number(count) * (units[unit ?? ''] ?? 0), 0)
        const smallest = millis < h ? s : millis < 24 * h ? m : h
        expect(millis - value).toBeGreaterThanOrEqual(0)
        expect(millis - value).toBeLessThan(smallest)
      }),
    )
  })

  it('tells the time between two times', () => {
    expect(formatSpan('2026-11-30T12:00:00Z', '2026-11-30T12:03:05.250Z')).toBe('3m5s')
  })
})
