import type { Place } from '../kube/call-options.ts'
import type { KubeClient } from '../kube/client.ts'
import { isNotFound } from '../kube/error.ts'
import type { KubeObject, ResourceType } from '../lib/object.ts'

/** What a reconciler asks the API server itself, where a cache must not decide. */
export type Live = Pick<KubeClient, 'get'>

/** The object as the API server has it now; undefined where there is none. */
export async function findLive<T extends KubeObject>(
  live: Live,
  type: ResourceType<T>,
  place: Place,
  signal?: AbortSignal,
): Promise<T | undefined> {
  try {
    return await live.get(type, place, { signal })
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}
