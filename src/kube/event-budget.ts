const burst = 25
const refillMillis = 5 * 60_000
const mostObjects = 4_096

/** A token bucket per object, with client-go's numbers: 25 events at once, then one every five minutes. */
export class EventBudget {
  readonly #buckets = new Map<string, { tokens: number; atMillis: number }>()

  /** Takes a token for the object; false where it has none left. */
  take(object: string, nowMillis: number): boolean {
    const bucket = this.#buckets.get(object) ?? { tokens: burst, atMillis: nowMillis }
    const refilled = Math.max(0, nowMillis - bucket.atMillis) / refillMillis
    const tokens = Math.min(burst, bucket.tokens + refilled)
    const taken = tokens >= 1
    // The most recently active object is last; the first is the one to forget.
    this.#buckets.delete(object)
    this.#buckets.set(object, { tokens: taken ? tokens - 1 : tokens, atMillis: nowMillis })
    this.#forgetOldest()
    return taken
  }

  #forgetOldest(): void {
    if (this.#buckets.size <= mostObjects) return
    const oldest = this.#buckets.keys().next()
    if (!oldest.done) this.#buckets.delete(oldest.value)
  }
}
