import { describe, expect, it } from 'vitest'
import { automationGraphStatus } from '../../../../src/api/automation-graph.ts'
import { driftText, rejectedStatus } from '../../../../src/reconcilers/automation-graph/status.ts'
import { aGraph, anAutomation, aPlan } from '../../../kit/builders.ts'

function drift(fields: readonly string[], automation = anAutomation()): string {
  const applied = aPlan()
  const plan = { name: applied.metadata.name, content: applied.spec.content, phase: 'Applied' }
  return driftText({ plan, applied, automation, drift: fields })
}

describe('the Drift column', () => {
  it('[A-036] names the fields, in no more than the status holds', () => {
    expect(drift([])).toBe('none')
    expect(drift(['target.agent.prompt', 'environment'])).toBe('target.agent.prompt, environment')
    const many = Array.from({ length: 60 }, (_, n) => `triggers[${'x'.repeat(40)}-${n}].cron`)
    expect(automationGraphStatus.safeParse({ drift: drift(many) }).error).toBeUndefined()
  })
})

describe('a document with errors', () => {
  const now = new Date('2026-11-30T12:00:00Z')
  const errors = [
    { code: 'node_unknown', detail: 'there is no node a' },
    { code: 'node_unknown', detail: 'there is no node b' },
  ]

  function conditionsAfter(status: 'True' | 'False', reason: string) {
    const applied = { type: 'Applied', status, reason, message: '', lastTransitionTime: now.toISOString() }
    const graph = aGraph({ status: { conditions: [applied] } })
    return rejectedStatus(graph, { kind: 'rejected', errors, warnings: [] }, undefined, now).conditions ?? []
  }

  it('keeps what is applied in the conditions, and nothing of a plan that no longer waits', () => {
    expect(conditionsAfter('True', 'Applied').map(({ reason }) => reason)).toContain('Applied')
    expect(conditionsAfter('False', 'AwaitingApproval').map(({ type }) => type)).not.toContain('Applied')
  })

  it('names the errors one by one', () => {
    const ready = conditionsAfter('True', 'Applied').find(({ type }) => type === 'Ready')
    expect(ready?.message).toBe(
      'The document does not compile: node_unknown: there is no node a; node_unknown: there is no node b',
    )
  })
})
