import { expect, test } from 'vitest'
import { longestTimerMillis, systemClock } from '../../../src/runtime/clock.ts'
import { FakeClock } from '../../kit/fake-clock.ts'

test('a wait longer than a timer can hold does not fire at once', async () => {
  let fired = false
  const cancel = systemClock.after(longestTimerMillis + 1000, () => {
    fired = true
  })
  await systemClock.sleep(30)
  cancel()
  expect(fired).toBe(false)
})

test('sleeps for the time asked for', async () => {
  const start = systemClock.monotonic()
  await systemClock.sleep(20)
  expect(systemClock.monotonic() - start).toBeGreaterThanOrEqual(19)
})

test('an aborted sleep rejects with the reason, and keeps no timer', async () => {
  const clock = new FakeClock()
  const stop = new AbortController()
  const sleep = clock.sleep(1000, stop.signal)
  stop.abort(new Error('no more'))
  await expect(sleep).rejects.toThrow('no more')
  expect(clock.pending).toBe(0)
  await expect(clock.sleep(1000, stop.signal)).rejects.toThrow('no more')
})

test('a cancelled timer does not fire', async () => {
  let fired = false
  systemClock.after(5, () => {
    fired = true
  })()
  await systemClock.sleep(20)
  expect(fired).toBe(false)
})
