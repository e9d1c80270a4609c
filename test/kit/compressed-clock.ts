import { type Clock, sleepOn } from '../../src/runtime/clock.ts'

/**
 * A clock that runs `speed` times as fast as the machine's, from `start` on. Several processes that are given the same
 * start share one time.
 * @param start wall time at which this clock and the machine's agree, milliseconds since 1970
 * @param end wall time at which it stops: nothing becomes due any more, while waits still end
 */
export function compressedClock(speed: number, start: number, end: number = Number.POSITIVE_INFINITY): Clock {
  const origin = performance.now() - (Date.now() - start)
  const elapsed = () => (performance.now() - origin) * speed
  const clock: Clock = {
    now: () => new Date(Math.min(start + elapsed(), end)),
    monotonic: elapsed,
    sleep: (ms, signal) => sleepOn(clock, ms, signal),
    after: (ms, fn) => {
      const timer = setTimeout(fn, Math.min(Math.max(0, ms / speed), 2 ** 31 - 1))
      return () => clearTimeout(timer)
    },
  }
  return clock
}
