import type { KubeObject, ResourceType } from '../lib/object.ts'
import type { KubeClient } from './client.ts'
import { defaultTiming, type WatchEnd, type WatchRestartReason, type WatchTiming } from './pacing.ts'
import { type Change, Store, type StoreOptions } from './store.ts'
import { keepWatching, type WatchSink, type WatchSource } from './watch.ts'

export type { WatchRestartReason } from './pacing.ts'

export interface InformerOptions<T extends KubeObject> extends StoreOptions<T> {
  /** Default: all namespaces. */
  readonly namespace?: string | undefined
  readonly labelSelector?: string | undefined
  readonly fieldSelector?: string | undefined
  /** Called on every sign of life of the watch, bookmarks among them. */
  readonly onActivity?: (() => void) | undefined
  /** Called whenever a list or watch ended and another follows, for metrics and the log. */
  readonly onRestart?: ((reason: WatchRestartReason, message: string) => void) | undefined
  readonly timing?: Partial<WatchTiming> | undefined
}

/** A live copy of all objects of one kind, or of those in one namespace or under one selector. */
export class Informer<T extends KubeObject> {
  readonly type: ResourceType<T>
  readonly store: Store<T>
  readonly #client: KubeClient
  readonly #options: InformerOptions<T>
  readonly #timing: WatchTiming
  readonly #handlers: ((change: Change<T>) => void)[] = []
  readonly #stateHandlers: (() => void)[] = []
  #lastActivity = Number.NEGATIVE_INFINITY
  #observedVersion = 0n
  #problem: string | undefined
  #refusal: string | undefined
  #started = false

  constructor(client: KubeClient, type: ResourceType<T>, options: InformerOptions<T> = {}) {
    this.#client = client
    this.#options = options
    this.#timing = { ...defaultTiming, ...options.timing }
    this.type = type
    this.store = new Store<T>(options)
  }

  /** The one it is limited to. */
  get namespace(): string | undefined {
    return this.#options.namespace
  }

  /** Resolves when the first list is in the store. */
  get synced(): Promise<void> {
    return this.store.synced
  }

  /**
   * Milliseconds since the last sign of life of list or watch, bookmarks among them; infinite before the first. Setting
   * the machine's clock does not change it.
   */
  get silentMillis(): number {
    return performance.now() - this.#lastActivity
  }

  /** Newest version that list, watch or bookmark have shown: the store holds every write up to it. */
  get observedVersion(): bigint {
    return this.#observedVersion
  }

  /** Why the store is not kept up to date at this moment, for readiness; undefined while it is. */
  get problem(): string | undefined {
    return this.#problem
  }

  /** What the API server said when it forbade the list or watch; undefined once it allows the watch again. */
  get refusal(): string | undefined {
    return this.#refusal
  }

  /** Called when the first list is in, and whenever {@link refusal} changes. To be added before {@link start}. */
  onStateChange(handler: () => void): void {
    this.#stateHandlers.push(handler)
  }

  /** Handlers run inside the reading loop: they note a key and return. To be added before {@link start}. */
  onChange(handler: (change: Change<T>) => void): void {
    this.#handlers.push(handler)
  }

  /** Lists and watches until the signal aborts, and resolves then. Failures are retried for ever. */
  async start(signal: AbortSignal): Promise<void> {
    if (this.#started) throw new Error(`the informer for ${this.type.kind} runs already`)
    this.#started = true
    await keepWatching(this.#source(), this.#sink(), { signal, timing: this.#timing })
  }

  #source(): WatchSource<T> {
    const { namespace, labelSelector, fieldSelector } = this.#options
    const scope = { namespace, labelSelector, fieldSelector }
    return {
      // Page by page: a whole list with its managedFields, beside what is held, is several times as large as that.
      list: (signal) => this.#client.list(this.type, { ...scope, signal }, (object) => this.store.heldOr(object)),
      watch: (resourceVersion, signal) =>
        this.#client.watch(this.type, {
          ...scope,
          resourceVersion,
          timeoutSeconds: Math.ceil((this.#timing.longestWatchSeconds * (1 + Math.random())) / 2),
          idleTimeoutMillis: this.#timing.idleTimeoutMillis,
          signal,
        }),
    }
  }

  #sink(): WatchSink<T> {
    return {
      replace: (items, version) => {
        this.#alive()
        this.#observedVersion = BigInt(version)
        const isFirst = !this.store.hasSynced
        this.#tell(this.store.replace(items))
        if (isFirst) this.#tellState()
      },
      put: (object) => this.#tell(this.store.put(object)),
      remove: (object) => this.#tell(this.store.remove(object)),
      reached: (version) => {
        const reached = BigInt(version)
        if (reached > this.#observedVersion) this.#observedVersion = reached
      },
      // A list alone proves little: who may list and not watch is refused right after it.
      alive: () => {
        this.#alive()
        this.#refuse(undefined)
      },
      ended: (end, waitMillis) => this.#ended(end, waitMillis),
    }
  }

  #alive(): void {
    this.#problem = undefined
    this.#lastActivity = performance.now()
    this.#options.onActivity?.()
  }

  #ended(end: WatchEnd, waitMillis: number): void {
    if (waitMillis > 0) this.#problem = `${this.type.plural}: ${end.message}`
    this.#options.onRestart?.(end.reason, end.message)
    if (end.reason === 'forbidden') this.#refuse(end.message)
  }

  #refuse(refusal: string | undefined): void {
    const before = this.#refusal
    this.#refusal = refusal
    if (before !== refusal) this.#tellState()
  }

  #tellState(): void {
    for (const handler of this.#stateHandlers) handler()
  }

  #tell(changes: readonly Change<T>[]): void {
    for (const change of changes) {
      for (const handler of this.#handlers) tellOne(handler, change)
    }
  }
}

/** A handler that throws is a bug: it ends the process like any other, and does not pass for a broken watch. */
function tellOne<T>(handler: (change: Change<T>) => void, change: Change<T>): void {
  try {
    handler(change)
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}
