import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AutomationSpec, automationSpec } from '../../../src/api/automation.ts'
import type { Policies } from '../../../src/api/automation-policies.ts'
import { isJsonObject, type Json, type JsonObject } from '../../../src/lib/json.ts'
import { correction, drift, managedFieldsOf } from '../../../src/plan/drift.ts'
import type { ManagedSpec } from '../../../src/plan/managed-spec.ts'

type Field = Exclude<keyof AutomationSpec, 'paused'>

const base: ManagedSpec = {
  triggers: [{ id: 'weekday', kind: 'schedule', cron: '0 9 * * 1-5', timezone: 'UTC' }],
  target: { program: { name: 'triage-0123456789', digest: `sha256:${'0'.repeat(64)}` } },
  environment: 'default',
  serviceAccountName: 'triage',
}

/** Values that each field may be changed to. A new field of the spec has to be added here: the types ask for it. */
const values: { readonly [field in Field]-?: fc.Arbitrary<AutomationSpec[field]> } = {
  triggers: fc.constantFrom([{ id: 'extra', kind: 'manual' }], [{ ...base.triggers[0], cron: '@daily' }] as never),
  target: fc.constantFrom({ agent: { name: 'other' } }, { agent: { name: 'other', prompt: 'Hello' } }),
  environment: fc.constantFrom('elsewhere', 'nowhere'),
  serviceAccountName: fc.constantFrom('somebody', 'nobody'),
  concurrencyPolicy: fc.constantFrom('Allow', 'Forbid', 'Replace'),
  missedOccurrences: fc.record(
    {
      policy: fc.constantFrom('Latest', 'All', 'None'),
      deadlineSeconds: fc.nat(9).map(one),
      limit: fc.nat(9).map(one),
    },
    { requiredKeys: ['policy'] },
  ),
  jitterSeconds: fc.nat(3600),
  history: fc.record(
    { successfulLimit: fc.nat(9), failedLimit: fc.nat(9), ttlSeconds: fc.nat(9).map((n) => 600 + n) },
    { requiredKeys: [] },
  ) as fc.Arbitrary<AutomationSpec['history']>,
}
const { triggers, target, environment, serviceAccountName, ...policyValues } = values
const policies = fc.record(policyValues, { requiredKeys: [] }) as fc.Arbitrary<Policies>
const edits = fc.record({ ...values, paused: fc.boolean() }, { requiredKeys: [] })

function one(n: number): number {
  return n + 1
}

/** The spec as the API server keeps it. */
function saved(spec: object): AutomationSpec {
  return automationSpec.parse(spec)
}

/** RFC 7386, as the API server does it, and then the defaults. */
function patched(live: AutomationSpec, patch: JsonObject): AutomationSpec {
  return saved((merged({ spec: live } as unknown as JsonObject, patch) as { spec: object }).spec)
}

function merged(into: Json | undefined, patch: Json): Json {
  if (!isJsonObject(patch)) return patch
  const result: JsonObject = isJsonObject(into) ? { ...into } : {}
  for (const [member, value] of Object.entries(patch)) {
    if (value === null) delete result[member]
    else result[member] = merged(result[member], value)
  }
  return result
}

describe('[A-036] drift', () => {
  it('is over every field of the spec but paused', () => {
    expect(new Set(Object.keys(automationSpec.shape))).toEqual(new Set([...Object.keys(values), 'paused']))
  })

  it.each(Object.keys(values) as Field[])('of %s is named and put back', (field) => {
    const written = fc.tuple(policies, values[field] as fc.Arbitrary<unknown>, fc.boolean())
    let drifts = 0
    fc.assert(
      fc.property(written, ([set, value, paused]) => {
        const applied = { ...base, ...set }
        const before = { ...saved(applied), paused }
        const live = saved({ ...before, [field]: value })
        const paths = drift(applied, live)
        expect(paths.every((path) => path.split(/[.[]/)[0] === field)).toBe(true)
        if (paths.length > 0) drifts += 1
        else expect(correction(applied, live)).toEqual({ spec: {} })
        const after = patched(live, correction(applied, live))
        expect(drift(applied, after)).toEqual([])
        if (paths.length > 0) expect(after).toEqual(before)
      }),
      { numRuns: 100 },
    )
    expect(drifts).toBeGreaterThan(30)
  })

  it('of many fields is put back by one patch, and paused stays', () => {
    fc.assert(
      fc.property(policies, edits, (set, edit) => {
        const applied = { ...base, ...set }
        const live = saved({ ...applied, ...edit })
        const patch = correction(applied, live)
        expect(Object.keys(patch.spec as object)).not.toContain('paused')
        const after = patched(live, patch)
        expect(drift(applied, after)).toEqual([])
        expect(after.paused).toBe(live.paused)
        expect(correction(applied, after)).toEqual({ spec: {} })
        expect(managedFieldsOf(after)).toEqual(managedFieldsOf(saved(applied)))
      }),
    )
  })

  it('is none of what a plan without policies made, and none where a default is written down', () => {
    expect(drift(base, saved(base))).toEqual([])
    expect(drift({ ...base, concurrencyPolicy: 'Allow' }, saved(base))).toEqual([])
    expect(drift(base, saved({ ...base, history: {}, missedOccurrences: { policy: 'Latest' } }))).toEqual([])
  })

  it('names the members that differ, also where the graph sets none', () => {
    const live = saved({ ...base, concurrencyPolicy: 'Forbid', history: { ttlSeconds: 86400 }, jitterSeconds: 5 })
    expect(drift(base, live)).toEqual(['concurrencyPolicy', 'jitterSeconds', 'history.ttlSeconds'])
  })

  it('says nothing of the defaults in what a digest is made of', () => {
    expect(managedFieldsOf(saved(base))).toEqual(base)
  })
})
