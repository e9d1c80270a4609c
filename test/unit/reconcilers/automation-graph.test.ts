import { expect, it } from 'vitest'
import type { AutomationGraphPlan } from '../../../src/api/automation-graph-plan.ts'
import { refOf } from '../../../src/lib/object.ts'
import { graphReconciler } from '../../../src/reconcilers/automation-graph.ts'
import { aGraph, aPlan } from '../../kit/builders.ts'
import { reconcileContext } from '../../kit/reconcile-context.ts'

const { apiVersion, kind, name } = refOf(aGraph())
const owner = { apiVersion, kind, name, uid: aGraph().metadata.uid ?? '', controller: true }
const owned = { ownerReferences: [owner] }

it('[A-148] a document with errors shows what is applied, also where that was never recorded', async () => {
  const graph = aGraph({ spec: { edges: [{ kind: 'starts', from: 'by-hand', to: 'nowhere' }] } })
  const plan = aPlan({ metadata: owned, status: { phase: 'Applied' } })
  const { status } = await graphReconciler('manager')(graph, reconcileContext({ cached: [plan] }))
  expect(status?.errors?.map(({ code }) => code)).toContain('node_unknown')
  expect(status?.applied?.plan).toBe(plan.metadata.name)
})

it('plans an edit once, also where it came before what was applied is recorded', async () => {
  const reconcile = (graph: ReturnType<typeof aGraph>, plans: AutomationGraphPlan[]) => {
    const context = reconcileContext({ cached: plans })
    return graphReconciler('manager')(graph, { ...context, read: { ...context.read, byIndex: () => [] } })
  }
  const first = aPlan({ metadata: owned, status: { phase: 'Applied' } })
  const { create, status } = await reconcile(aGraph(), [first])
  const made = create?.find((object) => object.kind === first.kind) as AutomationGraphPlan
  const second = { ...made, metadata: { ...made.metadata, namespace: 'default', ...owned } }
  const again = await reconcile(aGraph({ status }), [first, second])
  expect(status?.applied?.plan).toBe(first.metadata.name)
  expect(again.create).toEqual([])
})
