import { expect, it } from 'vitest'
import type { AutomationGraphPlan } from '../../../src/api/automation-graph-plan.ts'
import { automationProgram } from '../../../src/api/automation-program.ts'
import { type KubeObject, refOf } from '../../../src/lib/object.ts'
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

/** A pass over a graph with these children in the cache. */
function reconcile(graph: ReturnType<typeof aGraph>, children: readonly KubeObject[]) {
  const context = reconcileContext({ cached: children.map(child) })
  return graphReconciler('manager')(graph, { ...context, read: { ...context.read, byIndex: () => [] } })
}

function child(object: KubeObject): KubeObject {
  return { ...object, metadata: { ...object.metadata, namespace: 'default', ...owned } }
}

it('plans an edit once, also where it came before what was applied is recorded', async () => {
  const first = aPlan({ status: { phase: 'Applied' } })
  const { create = [], status } = await reconcile(aGraph(), [first])
  expect(create.map((object) => object.kind)).toEqual([automationProgram.kind, first.kind])
  const again = await reconcile(aGraph({ status }), [first, ...create])
  expect(status?.applied?.plan).toBe(first.metadata.name)
  expect(again.create).toEqual([])
})

it('makes a program again that somebody deleted, whatever has become of the plan that names it', async () => {
  const { create = [], status } = await reconcile(aGraph(), [])
  const [program, plan] = create as [KubeObject, AutomationGraphPlan]
  for (const phase of ['Pending', 'Approved', 'Applying', undefined] as const) {
    const seen = { ...plan, ...(phase !== undefined && { status: { phase } }) }
    const again = await reconcile(aGraph({ status }), [seen])
    expect(again.create, phase ?? 'not looked at yet').toEqual([program])
  }
})
