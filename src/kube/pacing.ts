/** Why a list or watch ended. A label of `graphwright_watch_restarts_total`. */
export type WatchRestartReason =
  | 'closed'
  | 'reset'
  | 'idle'
  | 'refused'
  | 'expired'
  | 'future'
  | 'unauthorized'
  | 'forbidden'
  | 'overloaded'
  | 'error'

/** How one list or watch ended. */
export interface WatchEnd {
  readonly reason: WatchRestartReason
  readonly message: string
  readonly retryAfterSeconds?: number | undefined
  /** How long the watch was open; 0 where it never was. */
  readonly openMillis: number
  /** True when it brought at least one event or bookmark. */
  readonly received: boolean
}

export interface WatchTiming {
  /** Silence after which a watch counts as dead; the server sends a bookmark every minute. Default 120,000. */
  readonly idleTimeoutMillis: number
  /** The server ends a watch in order after half of this to all of it. Default 480. */
  readonly longestWatchSeconds: number
  /** First and longest wait between failures. Defaults 800 and 30,000, as in client-go. */
  readonly firstBackoffMillis: number
  readonly longestBackoffMillis: number
  /** A watch open for so long makes earlier failures forgotten. Default 120,000. */
  readonly forgetAfterMillis: number
  /** A watch open for so long was a watch at all. Default 1,000. */
  readonly establishedAfterMillis: number
}

/**
 * Whoever has heard nothing from a watch for longer does not rely on what it brought before, milliseconds: three bookmarks
 * have not come, and neither has the new list by which a watch that is thought dead begins again.
 */
export const longestSilenceMillis = 180_000

export const defaultTiming: WatchTiming = {
  idleTimeoutMillis: 120_000,
  longestWatchSeconds: 480,
  firstBackoffMillis: 800,
  longestBackoffMillis: 30_000,
  forgetAfterMillis: 120_000,
  establishedAfterMillis: 1_000,
}

/**
 * True where the next step is a new list. A watch is resumed from its last version only where that is known to be
 * safe: after an idle timeout or a refused connection the server may have been restored to an older state, and a watch
 * from a version it has not reached is silent for ever.
 */
export function needsList(reason: WatchRestartReason): boolean {
  return reason !== 'closed' && reason !== 'reset' && reason !== 'overloaded'
}

const quickRestartsAllowed = 5

/** Decides how long to wait after each end: not at all after a healthy watch, ever longer after failures. */
export class Pacing {
  readonly #timing: WatchTiming
  readonly #random: () => number
  #failures = 0
  #quickRestarts = 0
  /** True when the last end was a 410. */
  #expired = false

  constructor(timing: WatchTiming, random: () => number = Math.random) {
    this.#timing = timing
    this.#random = random
  }

  /** Milliseconds to wait before the next list or watch. */
  after(end: WatchEnd): number {
    if (end.openMillis >= this.#timing.forgetAfterMillis) this.#failures = 0
    if (this.#continuesAtOnce(end)) return 0
    const backoff = end.reason === 'forbidden' ? this.#jitter(this.#timing.longestBackoffMillis) : this.#backoff()
    return Math.max(backoff, (end.retryAfterSeconds ?? 0) * 1000)
  }

  #continuesAtOnce(end: WatchEnd): boolean {
    const isFirstExpiry = end.reason === 'expired' && !this.#expired
    this.#expired = end.reason === 'expired'
    if (isFirstExpiry) {
      // Whoever says so is there, and the next step is a list. A server that has just started knows nothing older.
      this.#failures = Math.max(this.#failures, 1)
      return true
    }
    if (end.reason !== 'closed' && end.reason !== 'reset' && end.reason !== 'idle') return false
    const established = end.openMillis >= this.#timing.establishedAfterMillis
    if (established) this.#quickRestarts = 0
    // A server cuts a watch that cannot keep up with a burst: go on at once, but not for ever.
    return established || (end.received && this.#quickRestarts++ < quickRestartsAllowed)
  }

  #backoff(): number {
    const { firstBackoffMillis, longestBackoffMillis } = this.#timing
    return this.#jitter(Math.min(firstBackoffMillis * 2 ** this.#failures++, longestBackoffMillis))
  }

  /** Between the full wait and half of it, so that many watches do not come back together. */
  #jitter(millis: number): number {
    return millis * (0.5 + this.#random() / 2)
  }
}
