/** Resolves after `millis`; rejects with the signal's reason when it aborts first. Leaves no listener behind. */
export function pause(millis: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const onAbort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }, millis)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}

export interface Deadline {
  readonly signal: AbortSignal
  /** True when the time ran out, false when the parent aborted or nothing did. */
  readonly expired: boolean
  /** Stops the timer and lets go of the parent. To be called in every case. */
  end(): void
}

/**
 * A signal that aborts with `parent` or after `millis`. In place of `AbortSignal.any`, so that nothing piles up on a
 * signal that lives as long as the process.
 */
export function startDeadline(parent: AbortSignal | undefined, millis: number): Deadline {
  const controller = new AbortController()
  let expired = false
  const onAbort = () => controller.abort(parent?.reason)
  const timer = setTimeout(() => {
    expired = true
    controller.abort(new Error(`not done within ${millis} ms`))
  }, millis)
  if (parent?.aborted) onAbort()
  else parent?.addEventListener('abort', onAbort, { once: true })
  return {
    signal: controller.signal,
    get expired() {
      return expired
    },
    end() {
      clearTimeout(timer)
      parent?.removeEventListener('abort', onAbort)
    },
  }
}
