import { setImmediate } from 'node:timers/promises'
import { type Clock, sleepOn } from '../../src/runtime/clock.ts'

interface Timer {
  readonly due: number
  readonly fn: () => void
}

/** A clock that stands still until a test moves it. */
export class FakeClock implements Clock {
  readonly #start: number
  readonly #timers = new Set<Timer>()
  #elapsed = 0

  constructor(start: string | Date = '2026-11-30T12:00:00Z') {
    this.#start = new Date(start).getTime()
  }

  now(): Date {
    return new Date(this.#start + this.#elapsed)
  }

  monotonic(): number {
    return this.#elapsed
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal)
  }

  after(ms: number, fn: () => void): () => void {
    const timer = { due: this.#elapsed + Math.max(0, ms), fn }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** Timers that have not fired. */
  get pending(): number {
    return this.#timers.size
  }

  /** Moves on by `ms`, firing what becomes due on the way, each timer at its time. What timers started may still run. */
  tick(ms: number): void {
    const end = this.#elapsed + ms
    for (let timer = this.#next(end); timer !== undefined; timer = this.#next(end)) this.#fire(timer)
    this.#elapsed = end
  }

  /** As {@link tick}, and lets the code that waited for each timer run before the next. */
  async advance(ms: number): Promise<void> {
    const end = this.#elapsed + ms
    await setImmediate()
    for (let timer = this.#next(end); timer !== undefined; timer = this.#next(end)) {
      this.#fire(timer)
      await setImmediate()
    }
    this.#elapsed = end
    await setImmediate()
  }

  #fire(timer: Timer): void {
    this.#timers.delete(timer)
    this.#elapsed = Math.max(this.#elapsed, timer.due)
    timer.fn()
  }

  #next(end: number): Timer | undefined {
    let next: Timer | undefined
    for (const timer of this.#timers) if (timer.due <= end && (!next || timer.due < next.due)) next = timer
    return next
  }
}
