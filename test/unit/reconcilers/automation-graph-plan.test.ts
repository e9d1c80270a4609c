import { expect, it } from 'vitest'
import { automationGraphPlanStatus } from '../../../src/api/automation-graph-plan.ts'
import { reconcilePlan } from '../../../src/reconcilers/automation-graph-plan.ts'
import { aGraph, aPlan } from '../../kit/builders.ts'
import { reconcileContext } from '../../kit/reconcile-context.ts'

it('the status of a plan holds what it can of a hundred blockers', async () => {
  const blockers = Array.from({ length: 100 }, (_, n) => ({ code: 'agent_missing', detail: `${n} `.padEnd(200, 'x') }))
  const plan = aPlan({ content: { blockers } })
  const graph = aGraph({ status: { planSequence: 1, plan: plan.metadata.name } })
  const { status } = await reconcilePlan(plan, reconcileContext({ cached: [graph] }))
  expect(status?.phase).toBe('Blocked')
  expect(automationGraphPlanStatus.safeParse(status).error).toBeUndefined()
})
