import { specChangedAt } from '../lib/managed-fields.ts'
import type { KubeObject } from '../lib/object.ts'

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

/**
 * Takes out of an object, in place, what no controller reads and what is often most of it: managedFields and the
 * annotation of client-side apply. Returns what of managedFields is needed: the newest time of an entry that owns a
 * part of `spec`.
 */
export function slim(object: KubeObject): string | undefined {
  const { metadata } = object
  const changedAt = specChangedAt(metadata.managedFields ?? [])
  delete metadata.managedFields
  if (metadata.annotations !== undefined) {
    delete metadata.annotations[lastApplied]
    if (Object.keys(metadata.annotations).length === 0) delete metadata.annotations
  }
  return changedAt
}
