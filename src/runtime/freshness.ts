import type { KubeObject, ResourceType } from '../lib/object.ts'
import type { Caches } from './caches.ts'
import type { Logger } from './log.ts'
import type { Wakeable } from './wake.ts'

/**
 * Whether the caches that a controller decides by are up to date. While one of them shows no sign of life, somebody may have
 * paused, changed or deleted what it is about to act on: then it does nothing, and says so once.
 */
export class Freshness {
  readonly #name: string
  readonly #types: readonly ResourceType<KubeObject>[]
  readonly #caches: Caches
  readonly #log: Logger
  /** Namespaces in which a cache is stale; the empty one stands for what has none. */
  readonly #stale = new Set<string>()

  constructor(spec: Wakeable, caches: Caches, log: Logger) {
    this.#name = spec.name
    this.#types = [spec.for, ...(spec.watches ?? []).map(({ type }) => type), ...(spec.reads ?? [])]
    this.#caches = caches
    this.#log = log
  }

  /** True where a decision about an object of this namespace may be made now. */
  isFresh(namespace: string | undefined): boolean {
    const problems = this.#caches.problemsFor(this.#types, namespace)
    const isStale = problems.length > 0
    if (isStale === this.#stale.has(namespace ?? '')) return !isStale
    const fields = { controller: this.#name, namespace }
    if (isStale) {
      this.#stale.add(namespace ?? '')
      this.#log.warn({ ...fields, problems }, 'caches may be out of date, nothing is done until they are not')
    } else {
      this.#stale.delete(namespace ?? '')
      this.#log.info(fields, 'caches are up to date again, going on')
    }
    return !isStale
  }
}
