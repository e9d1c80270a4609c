import { afterAnswer, boundsAt, type ServerClock, type TimedAnswer } from '../kube/server-clock.ts'
import type { Clock } from './clock.ts'

/** A difference to the server's clock from which on the machine's clock is not gone by, milliseconds. */
const intolerable = 2000

/** It is gone by again when the difference is less than this: one that stays near the limit does not go to and fro. */
const tolerable = 1500

/** By how much the API server's clock is ahead of the machine's, milliseconds: not less than `low`, not more than `high`. */
export interface Skew {
  readonly low: number
  readonly high: number
}

/**
 * The machine's clock under guard: where it is proven to differ from the API server's by two seconds or more, the
 * server's time is what `now` says. It says the earliest time that the server can have, so that nothing is early by the
 * server's clock, which dates all objects. Its monotonic part is the machine's: waits are as long as they are. See
 * docs/decisions/0014-whose-time-it-is.md.
 */
export class GuardedClock implements Clock {
  readonly #machine: Clock
  readonly #onChange: (isCorrecting: boolean, skew: Skew) => void
  #server: ServerClock = {}
  #isCorrecting = false

  /**
   * @param machine its `monotonic` is what answers are timed by
   * @param onChange told when the server's time is gone by from now on, and when it no longer is
   */
  constructor(machine: Clock, onChange: (isCorrecting: boolean, skew: Skew) => void = () => {}) {
    this.#machine = machine
    this.#onChange = onChange
  }

  /** True while the server's time is gone by. */
  get isCorrecting(): boolean {
    this.#judge()
    return this.#isCorrecting
  }

  /** Undefined before the first answer. */
  get skew(): Skew | undefined {
    const bounds = this.#bounds()
    if (bounds === undefined) return undefined
    const ahead = this.#machine.now().getTime() - this.#machine.monotonic()
    return { low: bounds.low - ahead, high: bounds.high - ahead }
  }

  /** An answer of the API server. */
  hear(answer: TimedAnswer): void {
    this.#server = afterAnswer(this.#server, answer)
    this.#judge()
  }

  now(): Date {
    this.#judge()
    const bounds = this.#bounds()
    if (!this.#isCorrecting || bounds === undefined) return this.#machine.now()
    return new Date(Math.floor(bounds.low + this.#machine.monotonic()))
  }

  monotonic(): number {
    return this.#machine.monotonic()
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#machine.sleep(ms, signal)
  }

  after(ms: number, fn: () => void): () => void {
    return this.#machine.after(ms, fn)
  }

  #bounds() {
    return this.#server.bounds && boundsAt(this.#server.bounds, this.#machine.monotonic())
  }

  /** Asked whenever the time is: the wall clock of a machine is set without notice. */
  #judge(): void {
    const { skew } = this
    if (skew === undefined) return
    const isProven = skew.low >= intolerable || skew.high <= -intolerable
    const isOver = skew.low > -tolerable && skew.high < tolerable
    if (this.#isCorrecting ? !isOver : !isProven) return
    this.#isCorrecting = !this.#isCorrecting
    this.#onChange(this.#isCorrecting, skew)
  }
}
