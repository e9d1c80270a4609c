import { isJsonObject } from '../lib/json.ts'
import type { KubeObject } from '../lib/object.ts'

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

interface ManagedFieldsEntry {
  readonly time?: string
  readonly fieldsV1?: unknown
}

/**
 * Takes out of an object, in place, what no controller reads and what is often most of it: managedFields and the
 * annotation of client-side apply. Returns what of managedFields is needed: the newest time of an entry that owns a
 * part of `spec`.
 */
export function slim(object: KubeObject): string | undefined {
  const metadata = object.metadata as KubeObject['metadata'] & { managedFields?: readonly ManagedFieldsEntry[] }
  const changedAt = specChangedAt(metadata.managedFields ?? [])
  delete metadata.managedFields
  if (metadata.annotations !== undefined) {
    delete metadata.annotations[lastApplied]
    if (Object.keys(metadata.annotations).length === 0) delete metadata.annotations
  }
  return changedAt
}

function specChangedAt(entries: readonly ManagedFieldsEntry[]): string | undefined {
  let newest: string | undefined
  for (const { time, fieldsV1 } of entries) {
    if (time === undefined || !isJsonObject(fieldsV1) || !('f:spec' in fieldsV1)) continue
    if (newest === undefined || time > newest) newest = time
  }
  return newest
}
