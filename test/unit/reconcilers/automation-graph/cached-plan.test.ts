import { describe, expect, it } from 'vitest'
import type { AutomationGraphPlanStatus } from '../../../../src/api/automation-graph-plan.ts'
import { trimPlan } from '../../../../src/reconcilers/automation-graph/cached-plan.ts'
import { aPlan, createdAt } from '../../../kit/builders.ts'

const requiredInputs = [{ kind: 'Environment', name: 'triage', detail: 'where the pods of the steps run' }]
const document = { environment: 'triage', serviceAccountName: 'triage', nodes: [], edges: [] }

function trimmed(phase: AutomationGraphPlanStatus['phase']) {
  const journal = [{ kind: 'Automation', name: 'triage', action: 'Create', state: 'Started', time: createdAt } as const]
  const made = aPlan({ content: { document, requiredInputs }, status: { phase, message: 'Being applied.', journal } })
  const plan = { ...made, spec: { ...made.spec, approval: { digest: made.spec.content.digest, by: 'jane' } } }
  const before = structuredClone(plan)
  trimPlan(plan)
  return { plan, before }
}

describe('of a plan is cached', () => {
  it('everything but the document while it is under way', () => {
    const { plan, before } = trimmed('Applying')
    expect(plan).toEqual({ ...before, spec: { ...before.spec, content: { ...before.spec.content, document: {} } } })
  })

  it.each(['Applied', 'Stale', 'Failed'] as const)('what it does and that it is over when it is %s', (phase) => {
    const { plan, before } = trimmed(phase)
    expect(plan.status).toEqual({ phase })
    expect(plan.spec).toEqual({ content: { ...before.spec.content, document: {}, requiredInputs: [] } })
    const again = structuredClone(plan)
    trimPlan(again)
    expect(again).toEqual(plan)
  })
})
