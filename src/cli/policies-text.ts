import type { Policies } from '../api/automation-policies.ts'
import { isJsonObject } from '../lib/json.ts'
import type { DeepReadonly } from '../lib/readonly.ts'

/** `concurrencyPolicy Forbid, history.ttlSeconds 86400`; the empty text where none is set. */
export function policiesText(policies: DeepReadonly<Policies>): string {
  return Object.entries(policies)
    .flatMap(([name, value]) => settings(name, value))
    .join(', ')
}

function settings(name: string, value: unknown): string[] {
  if (value === undefined) return []
  if (!isJsonObject(value)) return [`${name} ${value}`]
  return Object.entries(value).map(([member, part]) => `${name}.${member} ${part}`)
}
