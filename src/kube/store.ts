import { type KubeObject, keyOf, type ObjectKey } from '../lib/object.ts'
import { type DeepReadonly, deepFreeze } from '../lib/readonly.ts'
import { slim, slimmedChangeTime } from './slim.ts'

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

/** The values under which an object is found. */
export type IndexFunction<T> = (object: DeepReadonly<T>) => readonly string[]

export interface StoreOptions<T> {
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>> | undefined
  /** Takes out of an object, in place, what nobody reads. Doing it again changes nothing. */
  readonly trim?: ((object: T) => void) | undefined
  /** Freeze what is stored to any depth: tests find whoever changes it. */
  readonly freeze?: boolean | undefined
}

/** All objects of one kind and scope by key, and by the values of named indexes. What it hands out is shared. */
export class Store<T extends KubeObject> {
  readonly #objects = new Map<ObjectKey, DeepReadonly<T>>()
  readonly #indexes = new Map<string, Index<T>>()
  readonly #byNamespace = new Index<T>((object) => [object.metadata.namespace ?? ''])
  readonly #freeze: boolean
  readonly #trim: (object: T) => void
  readonly #synced = Promise.withResolvers<void>()
  #hasSynced = false

  constructor(options: StoreOptions<T> = {}) {
    this.#freeze = options.freeze ?? false
    this.#trim = options.trim ?? (() => {})
    for (const [name, values] of Object.entries(options.indexes ?? {})) this.#indexes.set(name, new Index(values))
  }

  /** True once the first list is in. */
  get hasSynced(): boolean {
    return this.#hasSynced
  }

  /** Resolves when the first list is in. */
  get synced(): Promise<void> {
    return this.#synced.promise
  }

  get size(): number {
    return this.#objects.size
  }

  get(key: ObjectKey): DeepReadonly<T> | undefined {
    return this.#objects.get(key)
  }

  /** All objects, or those of one namespace. */
  list(namespace?: string): readonly DeepReadonly<T>[] {
    return namespace === undefined ? [...this.#objects.values()] : this.#byNamespace.find(namespace)
  }

  /** Objects for which the index function gave `value`. Throws for an index that was not declared. */
  byIndex(index: string, value: string): readonly DeepReadonly<T>[] {
    const found = this.#indexes.get(index)
    if (found === undefined) throw new TypeError(`the store has no index ${index}`)
    return found.find(value)
  }

  /** Newest time (RFC 3339) at which somebody who owns a part of `spec` changed something; from managedFields. */
  specChangedAt(key: ObjectKey): string | undefined {
    const held = this.#objects.get(key)
    return held && slimmedChangeTime(held)
  }

  /** The object that is held, where that is the given one in the same version; else the given one, slimmed. */
  heldOr(item: T): T {
    const held = this.#objects.get(keyOf(item.metadata))
    if (held !== undefined && isSameVersion(held, item)) return held as T
    this.#slim(item)
    return item
  }

  /** Makes the store hold exactly `items`. Whatever is missing in them is deleted, with its last known state. */
  replace(items: readonly T[]): Change<T>[] {
    const initial = !this.#hasSynced
    const changes: Change<T>[] = []
    const present = new Set(items.map((item) => keyOf(item.metadata)))
    for (const [key, object] of this.#objects) {
      if (present.has(key)) continue
      this.#forget(key, object)
      changes.push({ type: 'deleted', key, object, initial: false })
    }
    for (const item of items) {
      const held = this.#objects.get(keyOf(item.metadata))
      if (held === undefined || !isSameVersion(held, item)) changes.push(...this.#set(item, initial))
    }
    if (initial) {
      this.#hasSynced = true
      this.#synced.resolve()
    }
    return changes
  }

  /** Takes an object from a watch. One that is not newer than what is held is a repetition, and changes nothing. */
  put(item: T): Change<T>[] {
    const held = this.#objects.get(keyOf(item.metadata))
    if (held !== undefined && versionOf(item) <= versionOf(held)) return []
    return this.#set(item, false)
  }

  /** Takes a deletion from a watch; `item` is the last state. An older one than what is held is a repetition. */
  remove(item: T): Change<T>[] {
    const key = keyOf(item.metadata)
    const held = this.#objects.get(key)
    if (held === undefined || versionOf(item) < versionOf(held)) return []
    this.#forget(key, held)
    this.#slim(item)
    return [{ type: 'deleted', key, object: this.#shared(item), initial: false }]
  }

  #set(item: T, initial: boolean): Change<T>[] {
    const key = keyOf(item.metadata)
    const held = this.#objects.get(key)
    this.#slim(item)
    const object = this.#shared(item)
    if (held !== undefined) this.#forget(key, held)
    this.#objects.set(key, object)
    for (const index of this.#allIndexes()) index.add(key, object)
    if (held === undefined) return [{ type: 'added', key, object, initial }]
    if (held.metadata.uid === object.metadata.uid) return [{ type: 'updated', key, object, old: held, initial }]
    // Deleted and created again while nobody looked: the old one's end must not go unnoticed.
    return [
      { type: 'deleted', key, object: held, initial },
      { type: 'added', key, object, initial },
    ]
  }

  #slim(item: T): void {
    slim(item)
    this.#trim(item)
  }

  #forget(key: ObjectKey, object: DeepReadonly<T>): void {
    this.#objects.delete(key)
    for (const index of this.#allIndexes()) index.delete(key, object)
  }

  #allIndexes(): Index<T>[] {
    return [this.#byNamespace, ...this.#indexes.values()]
  }

  #shared(item: T): DeepReadonly<T> {
    return this.#freeze ? deepFreeze(item) : (item as DeepReadonly<T>)
  }
}

/** Objects by the values of one index function. */
class Index<T> {
  readonly #values: IndexFunction<T>
  /** A value that one object has, as that of an owner mostly is, takes no map of its own: there may be very many of them. */
  readonly #entries = new Map<string, Entry<T> | Map<ObjectKey, DeepReadonly<T>>>()

  constructor(values: IndexFunction<T>) {
    this.#values = values
  }

  find(value: string): readonly DeepReadonly<T>[] {
    const found = this.#entries.get(value)
    if (found === undefined) return []
    return found instanceof Map ? [...found.values()] : [found.object]
  }

  add(key: ObjectKey, object: DeepReadonly<T>): void {
    for (const value of this.#values(object)) {
      const found = this.#entries.get(value)
      if (found instanceof Map) found.set(key, object)
      else if (found === undefined || found.key === key) this.#entries.set(value, { key, object })
      else {
        const both = new Map([
          [found.key, found.object],
          [key, object],
        ])
        this.#entries.set(value, both)
      }
    }
  }

  delete(key: ObjectKey, object: DeepReadonly<T>): void {
    for (const value of this.#values(object)) {
      const found = this.#entries.get(value)
      if (found instanceof Map) {
        found.delete(key)
        if (found.size === 0) this.#entries.delete(value)
      } else if (found?.key === key) this.#entries.delete(value)
    }
  }
}

interface Entry<T> {
  readonly key: ObjectKey
  readonly object: DeepReadonly<T>
}

interface Versioned {
  readonly metadata: { readonly resourceVersion?: string }
}

/** Versions of objects of one kind are ordered as integers (KEP-5504). */
function versionOf(object: Versioned): bigint {
  return BigInt(object.metadata.resourceVersion ?? '0')
}

function isSameVersion(a: Versioned, b: Versioned): boolean {
  return a.metadata.resourceVersion === b.metadata.resourceVersion
}
