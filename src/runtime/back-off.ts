import type { Clock } from './clock.ts'

export interface BackOffOptions {
  /** Delay after the first failure, milliseconds. */
  readonly firstMillis: number
  /** No delay is longer, milliseconds. */
  readonly longestMillis: number
  /** Share of the delay by which it may be shorter or longer: 0.1 is ±10 %. Keeps failing keys from moving in step. */
  readonly jitter: number
  /** Between 0 and 1; default `Math.random`. */
  readonly random?: () => number
}

/** One second, doubled with every failure up to five minutes, ±10 %. */
export const retryBackOff: BackOffOptions = { firstMillis: 1000, longestMillis: 300_000, jitter: 0.1 }

/** Delay after `failures` failures in a row (at least one), milliseconds. Never above `longestMillis`. */
export function backOffMillis(failures: number, options: BackOffOptions): number {
  const doubled = options.firstMillis * 2 ** Math.min(failures - 1, 40)
  return Math.min(jittered(Math.min(doubled, options.longestMillis), options), options.longestMillis)
}

/** `millis`, made up to `jitter` shorter or longer. */
export function jittered(millis: number, options: Pick<BackOffOptions, 'jitter' | 'random'>): number {
  const random = options.random ?? Math.random
  return millis * (1 + options.jitter * (2 * random() - 1))
}

/** Limits a rate: `burst` at once, then `perSecond`. */
export class TokenBucket {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #perSecond: number
  readonly #burst: number
  #tokens: number
  #filledAt: number

  constructor(clock: Pick<Clock, 'monotonic'>, perSecond: number, burst: number) {
    this.#clock = clock
    this.#perSecond = perSecond
    this.#burst = burst
    this.#tokens = burst
    this.#filledAt = clock.monotonic()
  }

  /** Takes a token, in advance if there is none. Returns the milliseconds to wait until it is there. */
  reserve(): number {
    const now = this.#clock.monotonic()
    const gained = ((now - this.#filledAt) / 1000) * this.#perSecond
    this.#tokens = Math.min(this.#burst, this.#tokens + gained) - 1
    this.#filledAt = now
    return this.#tokens >= 0 ? 0 : (-this.#tokens / this.#perSecond) * 1000
  }
}
