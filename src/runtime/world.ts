import type { KubeClient } from '../kube/client.ts'
import type { KubeObject, ObjectKey, ObjectRef, ResourceType } from '../lib/object.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import type { Caches } from './caches.ts'

/** What the executor reads: the caches, and the API server where a cache must not decide. */
export interface World {
  typeOf(apiVersion: string, kind: string): ResourceType<KubeObject>
  isCached(type: ResourceType<KubeObject>): boolean
  /** Undefined for an object that is not there, and for a kind that is not cached. */
  cached(type: ResourceType<KubeObject>, key: ObjectKey): DeepReadonly<KubeObject> | undefined
  /** True when the caches show a write, or everything after it. */
  hasSeen(type: ResourceType<KubeObject>, written: KubeObject): boolean
  /** Reads from the API server; undefined if it is not there. */
  live(type: ResourceType<KubeObject>, ref: ObjectRef): Promise<KubeObject | undefined>
}

/** The world as this process sees it. */
export function worldOf(client: KubeClient, caches: Caches): World {
  return {
    typeOf: (apiVersion, kind) => client.typeOf(apiVersion, kind),
    isCached: (type) => caches.has(type),
    cached: (type, key) => (caches.has(type) ? caches.get(type, key) : undefined),
    hasSeen: (type, written) => caches.hasSeen(type, written),
    live: (type, ref) => client.find(type, ref),
  }
}
