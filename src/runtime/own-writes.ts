import type { ObjectKey } from '../lib/object.ts'
import type { Clock } from './clock.ts'

/** Longest time a key waits for its own writes to come back, milliseconds. */
export const longestOwnWriteWait = 5000

interface Held {
  readonly seen: (() => boolean)[]
  readonly since: number
}

/** Whether a key may be reconciled: its own last writes are in the caches, or have been waited for long enough. */
export type Passage =
  | { readonly go: false }
  | { readonly go: true; readonly waitedSeconds: number; readonly gaveUp: boolean }

/**
 * Read your own writes: a key is not reconciled until what its last pass wrote has come back through the watches.
 * Otherwise a slow watch makes a controller act again on the state before its own write (KEP-5647).
 */
export class OwnWrites {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #held = new Map<ObjectKey, Held>()

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** Holds the key back until `seen` says that the write is in the cache. */
  remember(key: ObjectKey, seen: () => boolean): void {
    const held = this.#held.get(key)
    if (held === undefined) this.#held.set(key, { seen: [seen], since: this.#clock.monotonic() })
    else held.seen.push(seen)
  }

  pass(key: ObjectKey): Passage {
    const held = this.#held.get(key)
    if (held === undefined) return { go: true, waitedSeconds: 0, gaveUp: false }
    const waited = this.#clock.monotonic() - held.since
    const done = held.seen.every((seen) => seen())
    if (!done && waited < longestOwnWriteWait) return { go: false }
    this.#held.delete(key)
    return { go: true, waitedSeconds: waited / 1000, gaveUp: !done }
  }

  /** The object is gone. */
  forget(key: ObjectKey): void {
    this.#held.delete(key)
  }
}
