import { expect, test } from 'vitest'
import { secondsTime } from '../../../src/lib/time.ts'

test('a Time has no fractional digits, and is never in the future', () => {
  expect(secondsTime(new Date(Date.UTC(2026, 0, 5, 10, 0, 0, 999)))).toBe('2026-01-05T10:00:00Z')
})
