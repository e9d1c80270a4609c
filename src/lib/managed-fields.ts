import { isJsonObject } from './json.ts'
import type { ManagedFieldsEntry } from './object.ts'
import { compareText } from './text.ts'

type Entries = readonly Readonly<ManagedFieldsEntry>[]

/** Newest time (RFC 3339) of an entry that owns a part of `spec`; undefined where there is none. */
export function specChangedAt(entries: Entries): string | undefined {
  let newest: string | undefined
  for (const { time, fieldsV1 } of entries) {
    if (time === undefined || !isJsonObject(fieldsV1) || !('f:spec' in fieldsV1)) continue
    if (newest === undefined || time > newest) newest = time
  }
  return newest
}

/**
 * Names of the field managers that own a field of the spec or a part of it, sorted.
 * @param path its members from the outside in; a list or object that is owned as a whole ends it
 */
export function managersOfSpec(entries: Entries, path: readonly string[]): string[] {
  const owners = entries.filter(({ fieldsV1 }) => owns(isJsonObject(fieldsV1) ? fieldsV1['f:spec'] : undefined, path))
  return [...new Set(owners.map(({ manager }) => manager ?? 'unknown'))].sort(compareText)
}

function owns(fields: unknown, [member, ...deeper]: readonly string[]): boolean {
  if (!isJsonObject(fields) || member === undefined) return isJsonObject(fields)
  const owned = fields[`f:${member}`]
  if (!isJsonObject(owned)) return false
  return Object.keys(owned).length === 0 || owns(owned, deeper)
}
