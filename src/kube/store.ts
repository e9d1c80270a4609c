import type { KubeObject, ObjectKey } from '../lib/object.ts'
import type { DeepReadonly } from '../lib/readonly.ts'

/** One difference between what the cache held and what it holds now. */
export interface Change<T> {
  readonly type: 'added' | 'updated' | 'deleted'
  readonly key: ObjectKey
  /** The object now; of a deleted one its last known state. */
  readonly object: DeepReadonly<T>
  /** The object before, when it was updated. */
  readonly old?: DeepReadonly<T>
  /** True for what the very first list brought. */
  readonly initial: boolean
}

export type IndexFunction<T> = (object: DeepReadonly<T>) => readonly string[]

export class Store<T extends KubeObject> {
  get hasSynced(): boolean {
    return false
  }
  get synced(): Promise<void> {
    return Promise.resolve()
  }
  get size(): number {
    return 0
  }
  get(_key: ObjectKey): DeepReadonly<T> | undefined {
    return undefined
  }
  list(_namespace?: string): readonly DeepReadonly<T>[] {
    return []
  }
  /** Throws for an index that was not declared. */
  byIndex(_index: string, _value: string): readonly DeepReadonly<T>[] {
    return []
  }
  /** Newest time at which a field manager that owns part of `spec` changed something (RFC 3339). */
  specChangedAt(_key: ObjectKey): string | undefined {
    return undefined
  }
}
