import type { Informer } from '../kube/informer.ts'
import type { Change, IndexFunction } from '../kube/store.ts'
import type { KubeObject, ResourceType } from '../lib/object.ts'
import { controllerOf } from '../lib/owner-references.ts'
import type { DeepReadonly } from '../lib/readonly.ts'

export interface CacheOptions<T extends KubeObject> {
  /** Keeps only objects with these labels: `a=b,c=d`. */
  readonly labelSelector?: string
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>
  /** Takes out of an object, in place, what nobody reads: it is not cached then. Doing it again changes nothing. */
  readonly trim?: (object: T) => void
}

/** What is cached of one kind: by one informer, or by one for each namespace. */
export interface CachedKind<T extends KubeObject> {
  readonly type: ResourceType<T>
  readonly labelSelector: string | undefined
  readonly indexes: Record<string, IndexFunction<T>>
  readonly trim: ((object: T) => void) | undefined
  readonly handlers: ((change: Change<T>) => void)[]
  /** By namespace; `''` stands for all. Empty until the start. */
  readonly informers: Map<string, Informer<T>>
}

/** Index that every kind has: the UID of the controlling owner. */
export const ownerIndex = 'byOwner'

/** A kind as it is declared first. */
export function cachedKind<T extends KubeObject>(type: ResourceType<T>, options: CacheOptions<T>): CachedKind<T> {
  const { labelSelector, trim } = options
  const indexes = { [ownerIndex]: ownerUids, ...options.indexes }
  return { type, labelSelector, indexes, trim, handlers: [], informers: new Map() }
}

/** Adds the indexes of another declaration. Throws where the two ask for different contents. */
export function extendKind<T extends KubeObject>(
  kind: CachedKind<T>,
  { labelSelector, trim, indexes }: CacheOptions<T>,
): void {
  const { type } = kind
  if (labelSelector !== undefined && labelSelector !== kind.labelSelector) {
    throw new Error(`${type.kind} is declared with two label selectors: a kind has one cache`)
  }
  if (trim !== undefined) throw new Error(`${type.kind}: what is not cached is said where it is first declared`)
  Object.assign(kind.indexes, indexes)
}

/** What tells a kind from all others. */
export function idOf(type: { readonly apiVersion: string; readonly kind: string }): string {
  return `${type.apiVersion} ${type.kind}`
}

/** The informer that holds the objects of a namespace, or those that have none. */
export function informerFor<T extends KubeObject>(
  kind: CachedKind<T>,
  namespace: string | undefined,
): Informer<T> | undefined {
  return kind.informers.get('') ?? kind.informers.get(namespace ?? '')
}

/** Whether a cache with this selector holds the object. Only equality is understood; other selectors hold nothing. */
export function isSelected(object: KubeObject, labelSelector: string | undefined): boolean {
  if (labelSelector === undefined) return true
  return labelSelector.split(',').every((term) => {
    const [label = '', value] = term.split('=')
    return value !== undefined && object.metadata.labels?.[label.trim()] === value.trim()
  })
}

function ownerUids(object: DeepReadonly<KubeObject>): string[] {
  const owner = controllerOf(object)
  return owner === undefined ? [] : [owner.uid]
}
