import { describe, expect, it } from 'vitest'
import type { Automation, AutomationSpec } from '../../../src/api/automation.ts'
import type { AutomationGraph } from '../../../src/api/automation-graph.ts'
import type { AutomationGraphPlan } from '../../../src/api/automation-graph-plan.ts'
import { automationProgram } from '../../../src/api/automation-program.ts'
import { type KubeObject, refOf } from '../../../src/lib/object.ts'
import { graphReconciler } from '../../../src/reconcilers/automation-graph.ts'
import { conditionOf } from '../../../src/runtime/conditions.ts'
import { aGraph, anAgent, anAutomation, anEnvironment, aPlan } from '../../kit/builders.ts'
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

describe('drift', () => {
  const owner = aGraph({ spec: { driftPolicy: 'Report' } })

  /** The Automation that the plan makes, changed by somebody, as the API server shows it. */
  async function edited(change: Partial<AutomationSpec>, manager: string) {
    const { create = [] } = await reconcile(owner, [])
    const [program, plan] = create as [KubeObject, AutomationGraphPlan]
    const applied = child({ ...plan, status: { phase: 'Applied' } } as KubeObject) as AutomationGraphPlan
    const spec = { ...(plan.spec.content.automation as AutomationSpec), ...change }
    const cached = child(anAutomation({ name: owner.metadata.name, spec })) as Automation
    const fields = Object.fromEntries(Object.keys(change).map((field) => [`f:${field}`, {}]))
    const managedFields = [{ manager, time: '2026-11-30T12:00:01Z', fieldsV1: { 'f:spec': fields } }]
    const live = { ...cached, metadata: { ...cached.metadata, managedFields } }
    return { program: child(program), plan: applied, cached, live }
  }

  function compare(graph: AutomationGraph, cached: readonly KubeObject[], live: readonly KubeObject[]) {
    const context = reconcileContext({ cached, live })
    return graphReconciler('manager')(graph, { ...context, read: { ...context.read, byIndex: () => [] } })
  }

  it('[A-036] is told with the field and the field manager, in the condition and once in an event', async () => {
    const { program, plan, cached, live } = await edited({ environment: 'prod' }, 'kubectl-edit')
    const first = await compare(owner, [program, plan, cached], [live])
    const inSync = conditionOf(first.status?.conditions, 'InSync')
    expect(inSync).toMatchObject({ status: 'False', reason: 'Drifted' })
    expect(inSync?.message).toContain('environment (written by kubectl-edit)')
    expect(first.status?.drift).toBe('environment')
    expect(first.events).toMatchObject([{ reason: 'Drifted', note: inSync?.message }])
    expect(first.apply).toEqual([])
    const again = await compare(aGraph({ status: first.status }), [program, plan, cached], [live])
    expect(again.events).toEqual([])
  })

  it('is put back where the graph says Correct', async () => {
    const { program, plan, cached, live } = await edited({ environment: 'prod' }, 'kubectl-edit')
    const graph = aGraph({ spec: { driftPolicy: 'Correct' } })
    const { patch } = await compare(graph, [program, plan, cached], [live])
    const { name, uid, resourceVersion } = cached.metadata
    const spec = { environment: owner.spec.environment }
    expect(patch).toMatchObject([{ ref: { kind: 'Automation', name, uid }, resourceVersion, patch: { spec } }])
    expect(patch?.[0]?.patch).toEqual({ spec })
  })

  it('is what the graph does not set as well, and is put back to nothing', async () => {
    const { program, plan, cached, live } = await edited(
      { concurrencyPolicy: 'Forbid', jitterSeconds: 5 },
      'kubectl-edit',
    )
    const graph = aGraph({ spec: { driftPolicy: 'Correct' } })
    const { patch, status } = await compare(graph, [program, plan, cached], [live])
    expect(status?.drift).toBe('concurrencyPolicy, jitterSeconds')
    expect(patch?.map((one) => one.patch)).toEqual([{ spec: { concurrencyPolicy: null, jitterSeconds: null } }])
  })

  it('is not put back where there is none, and where it was deleted it is made again', async () => {
    const { program, plan, cached, live } = await edited({ paused: true, concurrencyPolicy: 'Allow' }, 'kubectl-edit')
    const graph = aGraph({ spec: { driftPolicy: 'Correct' } })
    const none = await compare(graph, [program, plan, cached], [live])
    expect({ patch: none.patch, apply: none.apply }).toEqual({ patch: [], apply: [] })
    const gone = await compare(graph, [program, plan], [])
    expect(gone.apply).toMatchObject([{ kind: 'Automation', spec: { environment: owner.spec.environment } }])
  })

  it('is not what a plan has just written that is still being applied', async () => {
    const { program, plan, cached } = await edited({}, 'graphwright-manager')
    const newer = aGraph({ spec: { serviceAccountName: 'other' } })
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'other', namespace: 'default' } }
    const version = { name: 'triager-v1', number: 1, digest: plan.spec.content.digest, uid: 'uid-of-triager-v1' }
    const world = [program, plan, anEnvironment(), account, anAgent({ status: { latestVersion: version } })]
    const { create = [], status } = await compare(newer, [...world, cached], [cached])
    const next = create.find(({ kind: its }) => its === plan.kind) as AutomationGraphPlan
    const applying = child({ ...next, status: { phase: 'Applying' } } as KubeObject)
    const written = { ...cached, spec: next.spec.content.automation as AutomationSpec }
    for (const seen of [cached, written]) {
      const pass = await compare(aGraph({ spec: newer.spec, status }), [...world, applying, seen], [seen])
      expect(conditionOf(pass.status?.conditions, 'InSync')?.reason).toBe('InSync')
    }
  })
})
