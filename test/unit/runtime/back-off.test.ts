import fc from 'fast-check'
import { expect, test } from 'vitest'
import { backOffMillis, retryBackOff, TokenBucket } from '../../../src/runtime/back-off.ts'
import { FakeClock } from '../../kit/fake-clock.ts'

test('a back-off stays within its jitter and below its longest, for any number of failures', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 100_000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (failures, random) => {
        const millis = backOffMillis(failures, { ...retryBackOff, random: () => random })
        const plain = Math.min(1000 * 2 ** (failures - 1), 300_000)
        expect(millis).toBeGreaterThanOrEqual(plain * 0.9 - 1e-6)
        expect(millis).toBeLessThanOrEqual(300_000)
      },
    ),
  )
})

test('a bucket gives its burst at once, then its rate, and fills up again', () => {
  const clock = new FakeClock()
  const bucket = new TokenBucket(clock, 10, 3)
  expect([bucket.reserve(), bucket.reserve(), bucket.reserve()]).toEqual([0, 0, 0])
  expect(bucket.reserve()).toBe(100)
  expect(bucket.reserve()).toBe(200)
  clock.tick(500)
  expect([bucket.reserve(), bucket.reserve(), bucket.reserve()]).toEqual([0, 0, 0])
  expect(bucket.reserve()).toBe(100)
})
