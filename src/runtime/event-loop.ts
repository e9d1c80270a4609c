import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'

const windowMillis = 10_000
const resolutionMillis = 20

/** Measures how long the event loop keeps timers waiting: a process whose loop stands still serves nobody. */
export class EventLoopMonitor {
  readonly #histogram: IntervalHistogram = monitorEventLoopDelay({ resolution: resolutionMillis })
  readonly #timer: NodeJS.Timeout
  #lastWindow = 0

  constructor() {
    this.#histogram.enable()
    this.#timer = setInterval(() => {
      this.#lastWindow = this.#measured()
      this.#histogram.reset()
    }, windowMillis).unref()
  }

  /** Longest delay within the last ten to twenty seconds, milliseconds. */
  get delayMillis(): number {
    return Math.max(this.#lastWindow, this.#measured())
  }

  stop(): void {
    this.#histogram.disable()
    clearInterval(this.#timer)
  }

  #measured(): number {
    if (this.#histogram.count === 0) return 0
    return Math.max(0, this.#histogram.max / 1e6 - resolutionMillis)
  }
}
