import { describe, expect, it } from 'vitest'
import type { Cluster } from '../../../src/cli/cluster.ts'
import { planAgainst } from '../../../src/cli/plan-live.ts'
import type { PlanResult } from '../../../src/cli/plan-result.ts'
import type { KubeObject } from '../../../src/lib/object.ts'
import { aGraph, anAgent, anAutomation, anEnvironment } from '../../kit/builders.ts'
import { changed, nodeOf, now, oneAgent } from '../../kit/graph-documents.ts'
import { reconcileContext } from '../../kit/reconcile-context.ts'

const document = oneAgent()

function planned(objects: KubeObject[], of = document): Promise<PlanResult> {
  const cluster: Cluster = { client: reconcileContext({ live: objects }).live, namespace: 'default' }
  return planAgainst({ name: 'report', document: of, beside: {}, errors: [] }, cluster, now)
}

function blockersOf(result: PlanResult): string[] {
  return result.kind === 'planned' ? (result.content?.blockers ?? []).map(({ code }) => code) : [result.kind]
}

describe('plan --live', () => {
  it('takes what is being deleted for gone, as the operator does', async () => {
    const going = { metadata: { deletionTimestamp: '2026-11-30T12:00:00Z' } }
    const there = [anEnvironment({ name: document.environment }), anAgent({ name: 'reporter' })]
    const leaving = [anEnvironment({ name: document.environment, ...going }), anAgent({ name: 'reporter', ...going })]
    expect(blockersOf(await planned(there))).toEqual(['service_account_missing', 'agent_unpublished'])
    expect(blockersOf(await planned(leaving))).toEqual([
      'environment_missing',
      'service_account_missing',
      'agent_missing',
    ])
  })

  it('tells the revision that the graph has after an apply, which only another document makes a new one', async () => {
    const live = aGraph({ name: 'report', status: { revision: 2, documentDigest: 'sha256:old' } })
    const generation = live.metadata.generation ?? 0
    const first = await planned([live])
    expect(first).toMatchObject({ content: { revision: generation + 1 } })
    const documentDigest = first.kind === 'planned' ? first.compiled.documentDigest : ''
    const same = { ...live, status: { ...live.status, documentDigest } }
    expect(await planned([same])).toMatchObject({ content: { revision: 2 } })
  })

  it('names what the file itself has of the missing', async () => {
    const cluster: Cluster = { client: reconcileContext({ live: [] }).live, namespace: 'default' }
    const neighbours = ['Agent reporter', 'Agent other']
    const graph = { name: 'report', document, beside: {}, errors: [], neighbours }
    expect(await planAgainst(graph, cluster, now)).toMatchObject({ brought: ['Agent reporter'] })
  })

  it("[A-131] does not take the date of a stranger's Automation for one of this graph", async () => {
    const at = '2026-01-01T00:00:00.000Z'
    const past = changed(document, (draft) => {
      nodeOf(draft, 'by-hand').trigger = { kind: 'schedule_once', at }
    })
    const stranger = anAutomation({ name: 'report', spec: { triggers: [{ id: 'once', kind: 'schedule_once', at }] } })
    const result = await planned([stranger], past)
    expect(result.kind === 'rejected' && result.errors.map(({ code }) => code)).toEqual(['schedule_once_not_future'])
  })
})
