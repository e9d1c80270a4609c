import type { OwnerReference } from './object.ts'

type Owned = { readonly metadata: { readonly ownerReferences?: readonly Readonly<OwnerReference>[] } }
type Owner = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly uid?: string }
}

/** The reference to the object's managing controller, if it has one. */
export function controllerOf(object: Owned): Readonly<OwnerReference> | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true)
}

type Child = { readonly metadata: { readonly namespace?: string } }

/**
 * Controller reference to `owner`, for `child` (default: one beside the owner). Refuses what the garbage collector
 * would take for an absent owner, deleting the child: an owner in another namespace, a namespaced owner of a
 * cluster-scoped child (kubernetes/kubernetes#65200).
 */
export function ownedBy(owner: Owner, child: Child = owner): OwnerReference {
  const childNamespace = child.metadata.namespace
  const { name, namespace, uid } = owner.metadata
  if (uid === undefined) throw new TypeError(`${owner.kind} ${name} has no uid yet and cannot own anything`)
  if (namespace !== undefined && namespace !== childNamespace) {
    const where = childNamespace === undefined ? 'a cluster-scoped object' : `an object in namespace ${childNamespace}`
    throw new TypeError(`${owner.kind} ${namespace}/${name} cannot own ${where}: the garbage collector would delete it`)
  }
  return { apiVersion: owner.apiVersion, kind: owner.kind, name, uid, controller: true, blockOwnerDeletion: true }
}

/** True when `owner` is the managing controller of `child`. By UID: a name alone can belong to a successor. */
export function isControlledBy(child: Owned, owner: { readonly metadata: { readonly uid?: string } }): boolean {
  const uid = owner.metadata.uid
  return uid !== undefined && controllerOf(child)?.uid === uid
}
