import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { describe, expect, inject, it } from 'vitest'
import { agent } from '../../../src/api/agent.ts'
import { automation } from '../../../src/api/automation.ts'
import { automationFiring } from '../../../src/api/automation-firing.ts'
import { automationGraph } from '../../../src/api/automation-graph.ts'
import { automationGraphPlan } from '../../../src/api/automation-graph-plan.ts'
import { environment } from '../../../src/api/environment.ts'
import { run } from '../../../src/api/run.ts'
import { session } from '../../../src/api/session.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import type { KubeObject, ResourceType } from '../../../src/lib/object.ts'
import { healthOf } from '../../kit/argo-health.ts'
import { eventually } from '../../kit/eventually.ts'
import { startOperator } from '../../kit/operator.ts'
import { heldCommand, Workspace } from '../firing/workspace.ts'
import { Workspace as GraphWorkspace } from '../graph/workspace.ts'

const kubectl = new URL('../../../hack/cluster/cluster', import.meta.url).pathname

interface Place {
  readonly client: KubeClient
  readonly namespace: string
}

/** Waits until every object of these kinds, as the API server has it, is shown like this. */
function shown({ client, namespace }: Place, wanted: readonly (readonly [ResourceType<KubeObject>, string])[]) {
  return eventually(async () => {
    for (const [type, status] of wanted) {
      const { items } = await client.list(type, { namespace })
      const healths = await Promise.all(
        items.map((item) => healthOf({ ...item, apiVersion: type.apiVersion, kind: type.kind })),
      )
      expect(healths.length, type.kind).toBeGreaterThan(0)
      for (const health of healths) expect(health.status, `${type.kind}: ${health.message}`).toBe(status)
    }
  })
}

describe('what Argo CD shows of what the operator has really written', () => {
  it('a graph from its document to its Automation, changed by hand, paused and broken', async () => {
    const workspace = await GraphWorkspace.create()
    await workspace.applyGraph()
    await shown(workspace, [[automationGraph, 'Progressing']])
    await startOperator(workspace.client, workspace.namespace)
    await shown(workspace, [
      [agent, 'Healthy'],
      [environment, 'Healthy'],
    ])
    await workspace.planIn(1, 'Pending')
    await shown(workspace, [
      [automationGraphPlan, 'Suspended'],
      [automationGraph, 'Healthy'],
    ])
    await workspace.applyPlan(1)
    await shown(workspace, [
      [automationGraphPlan, 'Healthy'],
      [automation, 'Healthy'],
      [automationGraph, 'Healthy'],
    ])

    await workspace.editAutomation({ paused: true }, 'somebody')
    await shown(workspace, [[automation, 'Suspended']])
    await workspace.editAutomation({ paused: false, serviceAccountName: 'default' }, 'somebody')
    await shown(workspace, [
      [automation, 'Healthy'],
      [automationGraph, 'Degraded'],
    ])
    await workspace.editAutomation({ serviceAccountName: 'triage' }, 'somebody')
    await shown(workspace, [[automationGraph, 'Healthy']])

    const account = { apiVersion: 'v1', kind: 'ServiceAccount', name: 'triage', namespace: workspace.namespace }
    await workspace.client.delete(account)
    await shown(workspace, [
      [automation, 'Degraded'],
      [automationGraph, 'Degraded'],
    ])
    await workspace.applyGraph({ edges: [{ kind: 'starts', from: 'by-hand', to: 'nowhere' }] })
    await workspace.graphIs('Valid', 'False', 'Invalid')
    await shown(workspace, [[automationGraph, 'Degraded']])
  })

  it('a firing with what runs for it, and the forms of kubectl wait that are documented', async () => {
    const held = heldCommand()
    const workspace = await Workspace.create({ triage: held.line })
    await startOperator(workspace.client, workspace.namespace)
    await workspace.applyGraph({})
    await workspace.fire()
    await workspace.runIn('Running', 'triage')
    await shown(workspace, [
      [automationFiring, 'Progressing'],
      [session, 'Progressing'],
      [run, 'Progressing'],
    ])
    held.release()
    await workspace.settled()
    await shown(workspace, [
      [automationFiring, 'Healthy'],
      [session, 'Healthy'],
      [run, 'Healthy'],
    ])
    for (const line of waits()) await promisify(execFile)('sh', ['-euc', inNamespace(line, workspace.namespace)])
  })

  it('a firing that fails, with what ran for it', async () => {
    const workspace = await Workspace.create({ triage: { command: () => ({ exitCode: 3 }) } })
    await startOperator(workspace.client, workspace.namespace)
    await workspace.applyGraph({})
    await workspace.fire()
    await workspace.settled()
    await shown(workspace, [
      [automationFiring, 'Degraded'],
      [session, 'Degraded'],
      [run, 'Degraded'],
    ])
  })
})

/** Every line of the page that waits. */
function waits(): string[] {
  const page = readFileSync(new URL('../../../docs/gitops.md', import.meta.url), 'utf8')
  const lines = page.split('\n').filter((line) => line.startsWith('kubectl wait '))
  expect(lines.length).toBeGreaterThan(5)
  return lines
}

function inNamespace(line: string, namespace: string): string {
  return line.replace('kubectl', `${kubectl} kubectl --kubeconfig ${inject('kubeconfig')} -n ${namespace}`)
}
