import type { KubeObject, ResourceType } from '../lib/object.ts'
import type { KubeClient } from './client.ts'
import { type Change, type IndexFunction, Store } from './store.ts'

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

export interface InformerOptions<T extends KubeObject> {
  readonly namespace?: string | undefined
  readonly labelSelector?: string | undefined
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>
  /** Called on every sign of life of the watch, bookmarks among them. */
  readonly onActivity?: () => void
  /** Called on each new list or watch after the first, for `watch_restarts_total{reason}`. */
  readonly onRestart?: (reason: WatchRestartReason, message: string) => void
}

/** A live copy of all objects of one kind. */
export class Informer<T extends KubeObject> {
  readonly type: ResourceType<T>
  readonly store: Store<T> = new Store<T>()
  constructor(_client: KubeClient, type: ResourceType<T>, _options: InformerOptions<T> = {}) {
    this.type = type
  }
  /** Resolves when the first list is in the store. */
  get synced(): Promise<void> {
    return this.store.synced
  }
  /** Unix milliseconds of the last sign of life of list or watch; 0 before the first. */
  get lastActivity(): number {
    return 0
  }
  /** Newest resourceVersion that list, watch or bookmark have shown. */
  get observedVersion(): bigint {
    return 0n
  }
  /** Why the cache is not up to date now, for readiness; undefined while list and watch work. */
  get problem(): string | undefined {
    return undefined
  }
  /** Handlers run inside the reading loop: they note a key and return. */
  onChange(_handler: (change: Change<T>) => void): void {}
  /** Runs until the signal aborts. Resolves then. */
  async start(_signal: AbortSignal): Promise<void> {}
}
