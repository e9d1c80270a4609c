/**
 * Waits until `check` neither throws nor returns false, and returns what it returned. Ends with the last error.
 * @param options.timeout milliseconds, default 10,000
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  options: { readonly timeout?: number; readonly interval?: number } = {},
): Promise<Exclude<T, false>> {
  const end = performance.now() + (options.timeout ?? 10_000)
  for (;;) {
    let failure: unknown
    try {
      const value = await check()
      if (value !== false) return value as Exclude<T, false>
      failure = new Error(`not so within ${options.timeout ?? 10_000} ms: ${check}`)
    } catch (error) {
      failure = error
    }
    if (performance.now() >= end) throw failure
    await new Promise((resolve) => setTimeout(resolve, options.interval ?? 10))
  }
}
