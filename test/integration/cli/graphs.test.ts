import { dump } from 'js-yaml'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { automationGraphPlan } from '../../../src/api/automation-graph-plan.ts'
import { serviceAccountType } from '../../../src/kube/core-types.ts'
import { digestJson } from '../../../src/lib/digest.ts'
import { aGraph, anAgent, anEnvironment, aPlan } from '../../kit/builders.ts'
import { freshNamespace } from '../../kit/control-plane.ts'
import { installCrds } from '../../kit/crds.ts'
import { triageAndEscalate } from '../../kit/graph-documents.ts'
import { adminClient, cliIn, setStatus, store } from './support.ts'

const client = adminClient()

beforeAll(() => installCrds(client))
afterAll(() => client.transport.close())

const graphFile = dump({
  apiVersion: 'graphwright.dev/v1alpha1',
  kind: 'AutomationGraph',
  metadata: { name: 'triage' },
  spec: triageAndEscalate(),
})

describe('plan --live', () => {
  it('[A-032] [A-033] says what is missing in the cluster, then what applying would create', async () => {
    const namespace = await freshNamespace(client)
    const cli = cliIn(namespace)
    const plan = () => cli(['plan', '--live', '-f', 'g.yaml', '-o', 'json'], { files: { 'g.yaml': graphFile } })
    const before = await plan()
    expect(before.code).toBe(0)
    expect(JSON.parse(before.out).plan.blockers.map(({ code }: { code: string }) => code)).toEqual([
      'environment_missing',
      'service_account_missing',
      'agent_missing',
      'agent_missing',
    ])

    await store(client, namespace, anEnvironment())
    const { apiVersion, kind } = serviceAccountType
    await client.create({ apiVersion, kind, metadata: { name: 'triage', namespace } })
    for (const name of ['triage', 'escalate']) {
      const latestVersion = { name: `${name}-v1`, number: 1, digest: digestJson(name), uid: `${name}-uid` }
      await store(client, namespace, anAgent({ name, status: { latestVersion } }))
    }
    expect(JSON.parse((await plan()).out)).toMatchObject({
      kind: 'planned',
      plan: {
        blockers: [],
        pins: [{ version: 'escalate-v1' }, { version: 'triage-v1' }],
        dispositions: [
          { kind: 'AutomationProgram', action: 'Create' },
          { kind: 'Automation', name: 'triage', action: 'Create' },
        ],
      },
    })
  })
})

describe('approve', () => {
  it("[A-037] a graph's name means its pending plan, and the approval names who asked", async () => {
    const namespace = await freshNamespace(client)
    const plan = await store(client, namespace, aPlan({ status: { phase: 'Pending' } }))
    await store(client, namespace, aGraph({ status: { observedGeneration: 1, plan: plan.metadata.name } }))
    const cli = cliIn(namespace)

    const first = await cli(['approve', 'triage', '--json'])
    expect(first).toMatchObject({ code: 0, err: '' })
    expect(JSON.parse(first.out)).toMatchObject({ kind: 'approved', plan: 'triage-1', graph: 'triage', by: 'admin' })
    const stored = await client.get(automationGraphPlan, { name: 'triage-1', namespace })
    expect(stored.spec.approval).toEqual({ digest: plan.spec.content.digest, by: 'admin' })

    const again = await cli(['approve', 'plan/triage-1'])
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining('was already approved by admin') })
  })

  it.each([
    [
      'a stale plan',
      aPlan({ status: { phase: 'Stale', message: 'Agent triage has a newer version.' } }),
      'newer version',
    ],
    [
      'a blocked plan',
      aPlan({
        content: { blockers: [{ code: 'agent_missing', detail: 'there is no Agent x: create it' }] },
        status: { phase: 'Blocked' },
      }),
      'there is no Agent x: create it',
    ],
  ])('refuses %s with its reason and changes nothing', async (_title, plan, reason) => {
    const namespace = await freshNamespace(client)
    await store(client, namespace, plan)
    const answer = await cliIn(namespace)(['approve', 'plan/triage-1'])
    expect(answer).toMatchObject({ code: 1, out: '', err: expect.stringContaining(reason) })
    const stored = await client.get(automationGraphPlan, { name: 'triage-1', namespace })
    expect(stored.spec.approval).toBeUndefined()
  })

  it('refuses a graph that does not compile, naming its errors', async () => {
    const namespace = await freshNamespace(client)
    const errors = [{ code: 'graph_cycle', detail: 'the path a -> b -> a leads back to itself' }]
    await store(client, namespace, aGraph({ status: { observedGeneration: 1, errors } }))
    expect(await cliIn(namespace)(['approve', 'triage'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('graph_cycle'),
    })
  })

  it('waits for the plan of a graph that was applied a moment ago', async () => {
    const namespace = await freshNamespace(client)
    const graph = await store(client, namespace, aGraph())
    const approval = cliIn(namespace)(['approve', 'triage', '--json'])
    await store(client, namespace, aPlan({ status: { phase: 'Pending' } }))
    await setStatus(client, graph, { observedGeneration: 1, plan: 'triage-1' })
    expect(await approval).toMatchObject({ code: 0 })
  })

  it('offers the names that there are', async () => {
    const namespace = await freshNamespace(client)
    await store(client, namespace, aGraph())
    expect(await cliIn(namespace)(['approve', 'plan/other'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('there is no graph or plan other'),
    })
  })
})
