import { fieldManagers } from '../api/labels.ts'
import { isConflict } from '../kube/error.ts'
import type { JsonObject } from '../lib/json.ts'
import { type KubeObject, namespaceOf, type ResourceType } from '../lib/object.ts'
import type { Cluster } from './cluster.ts'
import { refusal } from './io.ts'

/** How often a write of somebody else may come between. Only the operator's own, of its status, are tried again. */
const maxAttempts = 5

/**
 * Changes an object as it was seen: the patch carries the resourceVersion that was read, and a change of its spec since
 * then is refused instead of overwritten. The operator writes the status of the same object at any time,
 * which is no change of what was decided about: then the object is looked at again.
 * @param patchOf the merge patch for the object as it is; it may refuse. Undefined: there is nothing to change.
 * @returns the object as it is now
 */
export async function changeAsSeen<T extends KubeObject>(
  { client, namespace }: Cluster,
  type: ResourceType<T>,
  seen: T,
  patchOf: (live: T) => JsonObject | undefined,
): Promise<T> {
  const { name, uid, generation } = seen.metadata
  const ref = { apiVersion: type.apiVersion, kind: type.kind, name, ...namespaceOf(seen.metadata) }
  let live = seen
  for (let attempt = 1; ; attempt += 1) {
    const patch = patchOf(live)
    if (patch === undefined) return live
    try {
      const changed = await client.mergePatch(ref, withVersion(patch, live), { fieldManager: fieldManagers.cli })
      return changed as T
    } catch (error) {
      if (!isConflict(error)) throw error
      live = await client.get(type, { name, namespace })
      if (attempt < maxAttempts && live.metadata.uid === uid && live.metadata.generation === generation) continue
      throw refusal(
        'validation.conflict',
        `${type.kind} ${name} was changed by somebody else meanwhile, and stays as they left it; look at it and repeat`,
      )
    }
  }
}

function withVersion(patch: JsonObject, { metadata }: KubeObject): JsonObject {
  const { uid = '', resourceVersion = '' } = metadata
  return { ...patch, metadata: { ...(patch.metadata as JsonObject | undefined), uid, resourceVersion } }
}
