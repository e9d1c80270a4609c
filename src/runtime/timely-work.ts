import type { Clock } from './clock.ts'

/** Whoever comes late is not to hold up everything else: after this time the rest goes on beside it, milliseconds. */
const longestPrecedenceMillis = 5000

/**
 * What is due at an instant goes before everything else that the process has to do: while such keys are waiting or worked
 * on, no queue hands out another. A thousand schedules due at once are all fired before the first of them is recorded
 * and before the first firing begins, for both can wait and the instant does not.
 */
export class TimelyWork {
  readonly #clock: Pick<Clock, 'after'>
  readonly #onRelease: (() => void)[] = []
  #keys = 0
  #isTooLong = false
  #cancelTimer: (() => void) | undefined

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock
  }

  /** True while other keys have to wait. */
  get hasPrecedence(): boolean {
    return this.#keys > 0 && !this.#isTooLong
  }

  /** Calls `serve` each time that others may go on. */
  onRelease(serve: () => void): void {
    this.#onRelease.push(serve)
  }

  /** A key has become due at its instant. */
  enter(): void {
    this.#keys += 1
    if (this.#keys > 1) return
    this.#cancelTimer = this.#clock.after(longestPrecedenceMillis, () => {
      this.#isTooLong = true
      this.#release()
    })
  }

  /** The work on it is done, or dropped. */
  leave(): void {
    this.#keys -= 1
    if (this.#keys > 0) return
    this.#cancelTimer?.()
    this.#isTooLong = false
    this.#release()
  }

  #release(): void {
    for (const serve of this.#onRelease) serve()
  }
}
