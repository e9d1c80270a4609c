import { type Automation, automation } from '../../../src/api/automation.ts'
import { type AutomationFiring, automationFiring } from '../../../src/api/automation-firing.ts'
import { type AutomationGraph, type AutomationGraphSpec, automationGraph } from '../../../src/api/automation-graph.ts'
import { type AutomationGraphPlan, automationGraphPlan } from '../../../src/api/automation-graph-plan.ts'
import { kinds } from '../../../src/api/kinds.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import type { JsonObject } from '../../../src/lib/json.ts'
import { conditionOf } from '../../../src/runtime/conditions.ts'
import { aFiring, aGraph, anAgent, anEnvironment, unsaved } from '../../kit/builders.ts'
import { freshNamespace, testClient } from '../../kit/control-plane.ts'
import { installCrds } from '../../kit/crds.ts'
import { eventually } from '../../kit/eventually.ts'

const manager = 'test'

/** A namespace of its own with what the graph `triage` refers to, and short ways to look at it. */
export class Workspace {
  readonly client: KubeClient
  readonly namespace: string

  private constructor(client: KubeClient, namespace: string) {
    this.client = client
    this.namespace = namespace
  }

  static async create(): Promise<Workspace> {
    const client = testClient({ types: kinds })
    await installCrds(client)
    const workspace = new Workspace(client, await freshNamespace(client))
    await client.create(unsaved(anEnvironment(), workspace.namespace))
    await client.create(unsaved(anAgent(), workspace.namespace))
    await client.create({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'triage', namespace: workspace.namespace },
    })
    return workspace
  }

  /** Creates or replaces the graph `triage`. */
  applyGraph(spec: Partial<AutomationGraphSpec> = {}): Promise<AutomationGraph> {
    return this.client.apply(unsaved(aGraph({ spec }), this.namespace), { fieldManager: manager })
  }

  graph(): Promise<AutomationGraph> {
    return this.client.get(automationGraph, { namespace: this.namespace, name: 'triage' })
  }

  plan(number: number): Promise<AutomationGraphPlan> {
    return this.client.get(automationGraphPlan, { namespace: this.namespace, name: `triage-${number}` })
  }

  async plans(): Promise<AutomationGraphPlan[]> {
    const { items } = await this.client.list(automationGraphPlan, { namespace: this.namespace })
    return items
  }

  automation(): Promise<Automation | undefined> {
    return this.client.find(automation, { namespace: this.namespace, name: 'triage' })
  }

  /** Fires the Automation by hand. */
  fire(name: string): Promise<AutomationFiring> {
    return this.client.create(unsaved(aFiring({ name }), this.namespace))
  }

  firing(name: string): Promise<AutomationFiring> {
    return this.client.get(automationFiring, { namespace: this.namespace, name })
  }

  /** Waits until the plan has this phase. */
  planIn(number: number, phase: string): Promise<AutomationGraphPlan> {
    return eventually(async () => {
      const plan = await this.plan(number)
      if (plan.status?.phase !== phase) throw new Error(`plan ${number} is ${plan.status?.phase}, not ${phase}`)
      return plan
    })
  }

  async approve(number: number): Promise<void> {
    const plan = await this.plan(number)
    const { apiVersion, kind, metadata } = plan
    const ref = { apiVersion, kind, name: metadata.name, namespace: this.namespace }
    await this.client.mergePatch(ref, { spec: { approval: { digest: plan.spec.content.digest, by: 'jane' } } })
  }

  /** Approves the plan and waits until it is applied. */
  async applyPlan(number: number): Promise<AutomationGraphPlan> {
    await this.planIn(number, 'Pending')
    await this.approve(number)
    return await this.planIn(number, 'Applied')
  }

  /** Waits until a condition of the graph has this status and reason. */
  graphIs(type: string, status: string, reason: string): Promise<AutomationGraph> {
    return eventually(async () => {
      const graph = await this.graph()
      const condition = conditionOf(graph.status?.conditions, type)
      if (condition?.status !== status || condition.reason !== reason) {
        throw new Error(`${type} is ${condition?.status}/${condition?.reason}, not ${status}/${reason}`)
      }
      return graph
    })
  }

  /**
   * Changes the spec of the live Automation, as somebody with the rights to break the glass would.
   * @param fieldManager under which name
   */
  async editAutomation(spec: JsonObject, fieldManager: string): Promise<void> {
    const { apiVersion, kind } = automation
    const ref = { apiVersion, kind, name: 'triage', namespace: this.namespace }
    await this.client.mergePatch(ref, { spec }, { fieldManager })
  }
}
