import type { KubeObject, ObjectMeta } from '../lib/object.ts'

/**
 * What of an object is sent in a server-side apply. Whatever the server keeps (managedFields, generation, creation
 * time, resourceVersion) stays out: an applied field is an owned field, and some are refused outright.
 */
export function applyBody(object: KubeObject): Record<string, unknown> {
  const { metadata, status: _status, ...content } = object as KubeObject & { readonly status?: unknown }
  return { ...content, metadata: appliedMetadata(metadata) }
}

function appliedMetadata(metadata: ObjectMeta): Partial<ObjectMeta> {
  const { name, namespace, uid, labels, annotations, ownerReferences, finalizers } = metadata
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(ownerReferences === undefined ? {} : { ownerReferences }),
    ...(finalizers === undefined ? {} : { finalizers }),
  }
}

/** What of an object is sent to its status. Throws without a resourceVersion, which makes the write a compare-and-set. */
export function applyStatusBody(object: KubeObject): Record<string, unknown> {
  const { apiVersion, kind, metadata, status } = object as KubeObject & { readonly status?: unknown }
  const { name, namespace, uid, resourceVersion } = metadata
  if (resourceVersion === undefined) {
    throw new TypeError(`status of ${kind} ${name} without metadata.resourceVersion: it could undo another's write`)
  }
  const place = { name, ...(namespace === undefined ? {} : { namespace }), ...(uid === undefined ? {} : { uid }) }
  return { apiVersion, kind, metadata: { ...place, resourceVersion }, status: status ?? {} }
}
