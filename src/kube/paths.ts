import type { KubeObject, ResourceType } from '../lib/object.ts'
import { KubeError } from './error.ts'

/** Path of all objects of a kind, in one namespace or in all. */
export function collectionPath(type: ResourceType<KubeObject>, namespace?: string): string {
  const base = type.apiVersion.includes('/') ? `/apis/${type.apiVersion}` : `/api/${type.apiVersion}`
  if (!type.namespaced || namespace === undefined) return `${base}/${type.plural}`
  return `${base}/namespaces/${segment(namespace)}/${type.plural}`
}

/** Path of one object, or of a subresource of it. Throws where the namespace of a namespaced kind is missing. */
export function objectPath(
  type: ResourceType<KubeObject>,
  at: { readonly name: string; readonly namespace?: string | undefined },
  subresource?: string,
): string {
  if (at.name === '') throw new TypeError(`${type.kind} without a name`)
  requireNamespace(type, at)
  const path = `${collectionPath(type, at.namespace)}/${segment(at.name)}`
  return subresource === undefined ? path : `${path}/${subresource}`
}

/**
 * A name as a part of a path. A dot and two of them are steps in a path, however they are escaped: a request for such an
 * object would be one for all of its kind. There is none of that name, and that is what is said of it.
 */
function segment(name: string): string {
  if (name !== '.' && name !== '..') return encodeURIComponent(name)
  throw new KubeError({ status: 404, reason: 'NotFound', message: `nothing can have the name ${JSON.stringify(name)}` })
}

/** Throws where the namespace of a namespaced kind is missing: the server would answer 404 or 405, and not say why. */
export function requireNamespace(
  type: ResourceType<KubeObject>,
  at: { readonly name: string; readonly namespace?: string | undefined },
): void {
  if (type.namespaced && at.namespace === undefined) throw new TypeError(`${type.kind} ${at.name} without a namespace`)
}
