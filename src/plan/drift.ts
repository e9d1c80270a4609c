import type { AutomationSpec } from '../api/automation.ts'
import { isJsonObject, sameJson } from '../lib/json.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { compareText } from '../lib/text.ts'
import type { ManagedSpec } from './managed-spec.ts'

const managedFields = ['triggers', 'target', 'environment', 'serviceAccountName'] as const

/** The managed fields of a spec, the others left out. */
export function managedFieldsOf(spec: DeepReadonly<AutomationSpec>): DeepReadonly<ManagedSpec> {
  const { triggers, target, environment, serviceAccountName } = spec
  return { triggers: triggers.toSorted((a, b) => compareText(a.id, b.id)), target, environment, serviceAccountName }
}

/**
 * Paths of the managed fields in which the live Automation differs from what was applied, sorted by field:
 * `triggers[weekday].cron`, `target.agent.prompt`. The order of triggers carries no meaning.
 */
export function drift(applied: DeepReadonly<ManagedSpec>, live: DeepReadonly<AutomationSpec>): string[] {
  return managedFields.flatMap((field) => differences(field, keyed(applied[field]), keyed(live[field])))
}

/** A list of triggers as an object by id; anything else as it is. */
function keyed(value: unknown): unknown {
  if (!Array.isArray(value)) return value
  return Object.fromEntries(value.map((entry: { id: string }) => [`[${entry.id}]`, entry]))
}

function differences(path: string, a: unknown, b: unknown): string[] {
  if (sameJson(a ?? null, b ?? null)) return []
  if (!isJsonObject(a) || !isJsonObject(b)) return [path]
  const members = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort()
  return members.flatMap((member) =>
    differences(member.startsWith('[') ? `${path}${member}` : `${path}.${member}`, a[member], b[member]),
  )
}
