/** Time as the runtime uses it. Injected, so that tests move it by hand. */
export interface Clock {
  /** Wall time. */
  now(): Date
  /** Milliseconds from an arbitrary start; never goes back, whatever happens to the wall time. */
  monotonic(): number
  /** Resolves after `ms` milliseconds; rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Calls `fn` once after `ms` milliseconds. The returned function cancels it. */
  after(ms: number, fn: () => void): () => void
}

/** Node fires a longer timer after one millisecond, which would turn a yearly schedule into a hot loop. */
export const longestTimerMillis = 2 ** 31 - 1

/** The machine's clock. A wait longer than a timer can hold is made of several timers. */
export const systemClock: Clock = {
  now: () => new Date(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => sleepOn(systemClock, ms, signal),
  after: startTimer,
}

function startTimer(ms: number, fn: () => void): () => void {
  const due = performance.now() + ms
  let timer: NodeJS.Timeout
  const arm = () => {
    const left = due - performance.now()
    timer = setTimeout(left > longestTimerMillis ? arm : fn, Math.min(Math.max(left, 0), longestTimerMillis))
  }
  arm()
  return () => clearTimeout(timer)
}

/** `sleep` of a clock by its `after`. Leaves no listener on the signal behind. */
export function sleepOn(clock: Pick<Clock, 'after'>, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const onAbort = () => {
      cancel()
      reject(signal?.reason)
    }
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    })
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}
