import { beforeEach, describe, expect, it } from 'vitest'
import { agent } from '../../../src/api/agent.ts'
import { automation } from '../../../src/api/automation.ts'
import { automationProgram } from '../../../src/api/automation-program.ts'
import { anAutomation, unsaved } from '../../kit/builders.ts'
import { eventually } from '../../kit/eventually.ts'
import { lintStatus } from '../../kit/lint-status.ts'
import { startOperator } from '../../kit/operator.ts'
import { Workspace } from './workspace.ts'

const twoSteps = {
  nodes: [
    { id: 'by-hand', kind: 'trigger' as const, trigger: { kind: 'manual' as const } },
    { id: 'triage', kind: 'step_agent' as const, agent: 'triager', prompt: 'Triage this.' },
    { id: 'again', kind: 'step_agent' as const, agent: 'triager', prompt: 'Look again.' },
  ],
  edges: [
    { kind: 'starts' as const, from: 'by-hand', to: 'triage' },
    { kind: 'then' as const, from: 'triage', to: 'again' },
  ],
}

let workspace: Workspace

beforeEach(async () => {
  workspace = await Workspace.create()
})

describe('from a graph to its Automation', () => {
  it('[A-030] [A-037] waits for review, then applies exactly the approved plan, journaled', async () => {
    await startOperator(workspace.client, workspace.namespace)
    await workspace.applyGraph()
    const pending = await workspace.planIn(1, 'Pending')
    expect(pending.status?.changes).toContain('create Automation triage')
    expect(await workspace.automation()).toBeUndefined()
    await workspace.graphIs('Applied', 'False', 'AwaitingApproval')
    await workspace.graphIs('Ready', 'True', 'NothingApplied')

    const applied = await workspace.applyPlan(1)
    const graph = await workspace.graphIs('Ready', 'True', 'Ready')
    const live = await workspace.automation()
    expect(live?.metadata.ownerReferences).toMatchObject([
      { kind: 'AutomationGraph', name: 'triage', controller: true },
    ])
    expect(live?.spec).toMatchObject({ environment: 'default', target: { program: applied.spec.content.program } })
    expect(applied.status?.journal?.map(({ action, state, uid }) => ({ action, state, uid }))).toEqual([
      { action: 'Create', state: 'Started', uid: undefined },
      { action: 'Create', state: 'Done', uid: live?.metadata.uid },
    ])
    expect(graph.status).toMatchObject({ drift: 'none', applied: { plan: 'triage-1', revision: 1 } })
    for (const object of [graph, applied, live]) if (object !== undefined) lintStatus(object)
  })

  it('[A-038] pins the published version of every Agent', async () => {
    await startOperator(workspace.client, workspace.namespace)
    await workspace.applyGraph()
    const { content } = (await workspace.planIn(1, 'Pending')).spec
    expect(content.pins).toMatchObject([{ agent: 'triager', version: 'triager-v1' }])
  })

  it('a new version of an Agent is a new plan, and the old one is stale', async () => {
    await startOperator(workspace.client, workspace.namespace)
    await workspace.applyGraph()
    await workspace.planIn(1, 'Pending')
    const { apiVersion, kind } = agent
    const ref = { apiVersion, kind, name: 'triager', namespace: workspace.namespace }
    await workspace.client.mergePatch(ref, { spec: { repeatSafe: true } })
    const newer = await workspace.planIn(2, 'Pending')
    expect(newer.spec.content.pins).toMatchObject([{ version: 'triager-v2' }])
    await workspace.planIn(1, 'Stale')
    await workspace.applyPlan(2)
  })

  it('a changed graph is a new plan that lists the fields it changes; applied twice, nothing is left to do', async () => {
    await startOperator(workspace.client, workspace.namespace)
    await workspace.applyGraph()
    await workspace.applyPlan(1)
    await workspace.graphIs('Applied', 'True', 'Applied')
    await workspace.applyGraph(twoSteps)
    const second = await workspace.planIn(2, 'Pending')
    expect(second.spec.content.dispositions).toMatchObject(
      expect.arrayContaining([expect.objectContaining({ kind: 'Automation', action: 'Update' })]),
    )
    await workspace.applyPlan(2)
    await workspace.graphIs('Applied', 'True', 'Applied')
    expect((await workspace.automation())?.spec.target.program?.digest).toBe(second.spec.content.program?.digest)
    expect((await workspace.plans()).length).toBe(2)
  })

  it('layout and sample event are never planned', async () => {
    await startOperator(workspace.client, workspace.namespace)
    await workspace.applyGraph()
    await workspace.applyPlan(1)
    const graph = await workspace.applyGraph({ layout: { triage: { x: 1 } }, sampleEvent: { items: [] } })
    await eventually(async () => (await workspace.graph()).status?.observedGeneration === graph.metadata.generation)
    expect((await workspace.graph()).status).toMatchObject({ revision: 1, plan: 'triage-1' })
    expect((await workspace.plans()).length).toBe(1)
  })

  it('an approval of a plan whose world has moved applies nothing', async () => {
    const operator = await startOperator(workspace.client, workspace.namespace)
    await workspace.applyGraph()
    await workspace.planIn(1, 'Pending')
    await operator.stop()
    await workspace.approve(1)
    await workspace.applyGraph(twoSteps)
    await startOperator(workspace.client, workspace.namespace)
    await workspace.planIn(1, 'Stale')
    await workspace.planIn(2, 'Pending')
    expect(await workspace.automation()).toBeUndefined()
  })

  it('applyPolicy Automatic approves in the name of the manager, also a plan that waits already', async () => {
    await startOperator(workspace.client, workspace.namespace)
    await workspace.applyGraph()
    await workspace.planIn(1, 'Pending')
    await workspace.applyGraph({ applyPolicy: 'Automatic' })
    expect((await workspace.planIn(1, 'Applied')).spec.approval?.by).toBe('admin')
    await workspace.applyGraph({ applyPolicy: 'Automatic', ...twoSteps })
    expect((await workspace.planIn(2, 'Applied')).spec.approval?.by).toBe('admin')
  })

  it('[A-148] a document with errors gets all of them, no plan, and leaves what is applied alone', async () => {
    await startOperator(workspace.client, workspace.namespace)
    await workspace.applyGraph()
    await workspace.applyPlan(1)
    await workspace.applyGraph({ edges: [{ kind: 'starts', from: 'by-hand', to: 'nowhere' }] })
    const graph = await workspace.graphIs('Valid', 'False', 'Invalid')
    expect(graph.status?.errors?.map(({ code }) => code)).toEqual(
      expect.arrayContaining(['node_unknown', 'node_unreachable']),
    )
    expect(graph.status?.applied?.plan).toBe('triage-1')
    expect((await workspace.plans()).length).toBe(1)
    expect(await workspace.automation()).toBeDefined()
    lintStatus(graph)
  })

  it('[A-144] what is missing blocks the plan by name, and the plan is unblocked when it is there', async () => {
    await startOperator(workspace.client, workspace.namespace)
    await workspace.applyGraph({ environment: 'prod' })
    const blocked = await workspace.planIn(1, 'Blocked')
    expect(blocked.spec.content.blockers).toMatchObject([{ code: 'environment_missing' }])
    await workspace.graphIs('Ready', 'False', 'Blocked')
    await expect(workspace.approve(1)).rejects.toThrow('a plan with blockers cannot be approved')
    await workspace.applyGraph({ environment: 'default' })
    await workspace.planIn(2, 'Pending')
    await workspace.planIn(1, 'Stale')
  })

  it('[A-043] an Automation that somebody else made is never adopted', async () => {
    await startOperator(workspace.client, workspace.namespace)
    const foreign = await workspace.client.create(unsaved(anAutomation({ name: 'triage' }), workspace.namespace))
    await workspace.applyGraph()
    const blocked = await workspace.planIn(1, 'Blocked')
    expect(blocked.spec.content.dispositions).toMatchObject(
      expect.arrayContaining([expect.objectContaining({ kind: 'Automation', action: 'Conflict' })]),
    )
    const live = await workspace.automation()
    expect(live?.metadata.uid).toBe(foreign.metadata.uid)
    expect(live?.metadata.ownerReferences).toBeUndefined()
    expect(live?.spec).toEqual(foreign.spec)
  })

  it('a deleted Automation needs a new plan', async () => {
    await startOperator(workspace.client, workspace.namespace)
    await workspace.applyGraph()
    await workspace.applyPlan(1)
    const { apiVersion, kind } = automation
    await workspace.client.delete({ apiVersion, kind, name: 'triage', namespace: workspace.namespace })
    await workspace.graphIs('InSync', 'False', 'Deleted')
    await workspace.applyPlan(2)
    await workspace.graphIs('InSync', 'True', 'InSync')
  })

  it('finished plans are kept up to the limit, and with them go the programs that nothing names', async () => {
    await startOperator(workspace.client, workspace.namespace)
    for (const prompt of ['one', 'two', 'three', 'four']) {
      const [trigger, step] = twoSteps.nodes
      if (trigger === undefined || step === undefined) throw new Error('the graph has lost its nodes')
      const nodes = [trigger, { ...step, prompt }]
      const graph = await workspace.applyGraph({ nodes, edges: twoSteps.edges.slice(0, 1), planHistoryLimit: 1 })
      await eventually(async () => (await workspace.graph()).status?.revision === graph.metadata.generation)
    }
    await eventually(async () => {
      const names = (await workspace.plans()).map(({ metadata }) => metadata.name)
      expect(names.sort()).toEqual(['triage-3', 'triage-4'])
    })
    await eventually(async () => {
      const { items } = await workspace.client.list(automationProgram, { namespace: workspace.namespace })
      expect(items.length).toBe(2)
    })
  })

  it('deleting the graph deletes what it owns', async () => {
    await startOperator(workspace.client, workspace.namespace)
    const { apiVersion, kind } = await workspace.applyGraph()
    await workspace.applyPlan(1)
    await workspace.client.delete({ apiVersion, kind, name: 'triage', namespace: workspace.namespace })
    // The garbage collector of a fresh control plane learns of new kinds up to half a minute late.
    await eventually(async () => (await workspace.automation()) === undefined, { timeout: 45_000 })
    await eventually(async () => (await workspace.plans()).length === 0, { timeout: 45_000 })
  })

  it('writes nothing once everything is as it should be', async () => {
    await startOperator(workspace.client, workspace.namespace)
    await workspace.applyGraph()
    await workspace.applyPlan(1)
    await workspace.graphIs('Ready', 'True', 'Ready')
    const versions = async () =>
      [await workspace.graph(), await workspace.plan(1), await workspace.automation()].map(
        (object) => object?.metadata.resourceVersion,
      )
    const before = await versions()
    await startOperator(workspace.client, workspace.namespace) // a second manager looks at everything again
    await workspace.client.mergePatch(
      { apiVersion: 'v1', kind: 'ServiceAccount', name: 'triage', namespace: workspace.namespace },
      { metadata: { labels: { touched: 'yes' } } },
    )
    await eventually(
      async () => (await workspace.client.list(agent, { namespace: workspace.namespace })).items.length === 1,
    )
    expect(await versions()).toEqual(before)
  })
})
