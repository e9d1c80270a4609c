import { expect, it } from 'vitest'
import { graphReconciler } from '../../../src/reconcilers/automation-graph.ts'
import { aGraph, aPlan } from '../../kit/builders.ts'
import { reconcileContext } from '../../kit/reconcile-context.ts'

it('[A-148] a document with errors shows what is applied, also where that was never recorded', async () => {
  const graph = aGraph({ spec: { edges: [{ kind: 'starts', from: 'by-hand', to: 'nowhere' }] } })
  const { apiVersion, kind, metadata } = graph
  const owner = { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '', controller: true }
  const plan = aPlan({ metadata: { ownerReferences: [owner] }, status: { phase: 'Applied' } })
  const { status } = await graphReconciler('manager')(graph, reconcileContext({ cached: [plan] }))
  expect(status?.errors?.map(({ code }) => code)).toContain('node_unknown')
  expect(status?.applied?.plan).toBe(plan.metadata.name)
})
