import { setImmediate } from 'node:timers/promises'

const longestMillis = 10

/**
 * Lets timers and sockets have their turn. Work that never waits for anything would keep them from it: ten thousand passes
 * that find nothing to do take seconds, and a Lease has to be renewed and a health check answered in between.
 */
export class EventLoopYield {
  #last = performance.now()

  /** To be waited for after each piece of work. Returns at once while the last turn is not long ago. */
  async ifDue(): Promise<void> {
    if (performance.now() - this.#last < longestMillis) return
    await setImmediate()
    this.#last = performance.now()
  }
}
