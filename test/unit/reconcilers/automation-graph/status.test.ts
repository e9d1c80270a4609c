import { describe, expect, it } from 'vitest'
import { automationGraphStatus } from '../../../../src/api/automation-graph.ts'
import {
  driftMessage,
  driftText,
  type PlannedGraph,
  rejectedStatus,
} from '../../../../src/reconcilers/automation-graph/status.ts'
import { aGraph, anAutomation, aPlan } from '../../../kit/builders.ts'

/** A graph that is applied, and whose Automation differs in these fields, each written by the manager that is named. */
function drifted(fields: Readonly<Record<string, string>>, corrects = false): PlannedGraph {
  const applied = aPlan()
  const plan = { name: applied.metadata.name, content: applied.spec.content, phase: 'Applied' }
  const drift = Object.entries(fields).map(([path, manager]) => ({ path, writtenBy: manager === '' ? [] : [manager] }))
  return { plan, applied, automation: anAutomation(), drift, corrects }
}

describe('the Drift column', () => {
  it('[A-036] names the fields, in no more than the status holds', () => {
    expect(driftText(drifted({}))).toBe('none')
    const two = drifted({ 'target.agent.prompt': 'kubectl-edit', environment: 'curl' })
    expect(driftText(two)).toBe('target.agent.prompt, environment')
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`triggers[${'x'.repeat(40)}-${n}].cron`, '']))
    expect(automationGraphStatus.safeParse({ drift: driftText(drifted(many)) }).error).toBeUndefined()
  })
})

describe('the message of drift', () => {
  const fields = { environment: 'kubectl-edit', serviceAccountName: 'kubectl-edit', 'target.agent.prompt': 'curl' }

  it('[A-036] names each field, who wrote it, and what to do', () => {
    expect(driftMessage(drifted(fields))).toBe(
      'The Automation differs from what was applied: environment, serviceAccountName (written by kubectl-edit); target.agent.prompt (written by curl). To keep a change, make it in the graph; to put it back, set driftPolicy: Correct.',
    )
  })

  it('says that it is being put back where the graph says so', () => {
    expect(driftMessage(drifted(fields, true))).toMatch(
      / It is being put back; to keep a change, make it in the graph\.$/,
    )
  })

  it('names nobody where nobody is known', () => {
    expect(driftMessage(drifted({ environment: '' }))).toContain('what was applied: environment. To keep')
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
