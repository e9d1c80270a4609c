import { type AutomationSpec, automationSpec } from '../api/automation.ts'
import { isJsonObject, type Json, type JsonObject, sameJson } from '../lib/json.ts'
import { mergePatchBetween } from '../lib/merge-patch.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { compareText } from '../lib/text.ts'
import type { ManagedSpec } from './managed-spec.ts'

type Field = Exclude<keyof AutomationSpec, 'paused'>
type Spec = { readonly [field in keyof AutomationSpec]?: unknown }
type Live = DeepReadonly<AutomationSpec>
type Applied = DeepReadonly<ManagedSpec>

/** Of the spec of a graph-owned Automation everything is the graph's but `paused`: whatever is added to it later, too. */
const managedFields = Object.keys(automationSpec.shape).filter((field): field is Field => field !== 'paused')

/** What an object means that is not there: the same as one that says nothing. */
const absent: Partial<Record<Field, JsonObject>> = { history: {}, missedOccurrences: {} }

const schemas: Record<Field, { safeParse(value: unknown): { success: boolean; data?: unknown } }> = automationSpec.shape

/** The value as it works: with the defaults that the API server fills in. One that cannot be read stays as it is. */
function effective(field: Field, spec: Spec): unknown {
  const value = spec[field] ?? absent[field]
  const parsed = schemas[field].safeParse(value)
  return parsed.success ? parsed.data : value
}

/** The managed fields of a spec as far as they say something; those that are as their defaults are left out. */
export function managedFieldsOf(spec: Live): Spec {
  const fields = managedFields.filter((field) => !isSame(effective(field, spec), effective(field, {})))
  const said = Object.fromEntries(fields.map((field) => [field, spec[field]]))
  return { ...said, triggers: spec.triggers.toSorted((a, b) => compareText(a.id, b.id)) }
}

/**
 * Paths of the fields in which the live Automation differs from what was applied, sorted by field:
 * `triggers[weekday].cron`, `target.agent.prompt`, `history.ttlSeconds`. The order of triggers carries no meaning, and
 * a default is the same as nothing.
 */
export function drift(applied: Applied, live: Spec): string[] {
  return managedFields.flatMap((field) => fieldDrift(field, applied, live))
}

/**
 * Merge patch that makes the live Automation what was applied, and changes of it nothing else. A server-side apply would
 * not do: it leaves what another field manager has set and we do not. A field that is taken away gets its default.
 */
export function correction(applied: Applied, live: Live): JsonObject {
  const fields = managedFields.filter((field) => fieldDrift(field, applied, live).length > 0)
  return { spec: mergePatchBetween(pick(live, fields), pick(applied, fields)) }
}

function pick(spec: Spec, fields: readonly Field[]): JsonObject {
  const set = fields.filter((field) => spec[field] !== undefined)
  return Object.fromEntries(set.map((field) => [field, spec[field] as Json]))
}

function fieldDrift(field: Field, applied: Applied, live: Spec): string[] {
  if (isSame(applied[field], live[field])) return []
  return differences(field, keyed(effective(field, applied)), keyed(effective(field, live)))
}

/** A list of triggers as an object by id; anything else as it is. */
function keyed(value: unknown): unknown {
  if (!Array.isArray(value)) return value
  return Object.fromEntries(value.map((entry: { id: string }) => [`[${entry.id}]`, entry]))
}

function differences(path: string, a: unknown, b: unknown): string[] {
  if (isSame(a, b)) return []
  if (!isJsonObject(a) || !isJsonObject(b)) return [path]
  const members = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort()
  return members.flatMap((member) =>
    differences(member.startsWith('[') ? `${path}${member}` : `${path}.${member}`, a[member], b[member]),
  )
}

function isSame(a: unknown, b: unknown): boolean {
  return sameJson(a ?? null, b ?? null)
}
