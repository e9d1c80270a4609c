import { expect, test } from 'vitest'
import { microTime } from '../../../src/kube/micro-time.ts'

test('a MicroTime has six fractional digits', () => {
  expect(microTime(new Date(Date.UTC(2026, 0, 5, 10, 0, 0, 7)))).toBe('2026-01-05T10:00:00.007000Z')
})
