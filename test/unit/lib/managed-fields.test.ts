import { describe, expect, it } from 'vitest'
import { managersOfSpec, specChangedAt } from '../../../src/lib/managed-fields.ts'

const applied = {
  manager: 'graphwright-manager',
  time: '2026-11-30T12:00:00Z',
  fieldsV1: { 'f:metadata': { 'f:labels': {} }, 'f:spec': { 'f:environment': {}, 'f:target': {} } },
}
const edited = {
  manager: 'kubectl-edit',
  time: '2026-11-30T12:05:00Z',
  fieldsV1: { 'f:spec': { 'f:serviceAccountName': {} } },
}
const status = { manager: 'graphwright-manager', time: '2026-11-30T12:09:00Z', fieldsV1: { 'f:status': {} } }

describe('managedFields', () => {
  it('tell who owns a field of the spec', () => {
    const entries = [status, edited, applied]
    expect(managersOfSpec(entries, ['serviceAccountName'])).toEqual(['kubectl-edit'])
    expect(managersOfSpec(entries, ['target'])).toEqual(['graphwright-manager'])
    expect(managersOfSpec(entries, ['status'])).toEqual([])
    expect(managersOfSpec([{ ...edited, manager: 'argocd' }, edited], ['serviceAccountName'])).toEqual([
      'argocd',
      'kubectl-edit',
    ])
  })

  it('tell who owns a part of a field, and end at what is owned whole', () => {
    const graph = { manager: 'graphwright-manager', fieldsV1: { 'f:spec': { 'f:history': { 'f:failedLimit': {} } } } }
    const person = { manager: 'kubectl-edit', fieldsV1: { 'f:spec': { 'f:history': { 'f:ttlSeconds': {} } } } }
    const entries = [graph, person, applied]
    expect(managersOfSpec(entries, ['history', 'ttlSeconds'])).toEqual(['kubectl-edit'])
    expect(managersOfSpec(entries, ['history'])).toEqual(['graphwright-manager', 'kubectl-edit'])
    expect(managersOfSpec(entries, ['history', 'skippedLimit'])).toEqual([])
    expect(managersOfSpec(entries, ['target', 'agent', 'prompt'])).toEqual(['graphwright-manager'])
  })

  it('tell when the spec was last written, whatever happened to the status since', () => {
    expect(specChangedAt([applied, edited, status])).toBe('2026-11-30T12:05:00Z')
    expect(specChangedAt([status])).toBeUndefined()
  })
})
