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

/** Names of the field managers that own `spec.<field>` or a part of it, sorted. */
export function managersOfSpec(entries: Entries, field: string): string[] {
  const owners = entries.filter(({ fieldsV1 }) => {
    const spec = isJsonObject(fieldsV1) ? fieldsV1['f:spec'] : undefined
    return isJsonObject(spec) && `f:${field}` in spec
  })
  return [...new Set(owners.map(({ manager }) => manager ?? 'unknown'))].sort(compareText)
}
