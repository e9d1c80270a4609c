import { expect, test } from 'vitest'
import { microTime, secondsTime } from '../../../src/kube/micro-time.ts'

test('a MicroTime has six fractional digits, a Time none', () => {
  const date = new Date(Date.UTC(2026, 0, 5, 10, 0, 0, 7))
  expect(microTime(date)).toBe('2026-01-05T10:00:00.007000Z')
  expect(secondsTime(date)).toBe('2026-01-05T10:00:00Z')
})
