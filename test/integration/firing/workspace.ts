import { onTestFinished } from 'vitest'
import { type Automation, type AutomationSpec, automation } from '../../../src/api/automation.ts'
import {
  type AutomationFiring,
  type AutomationFiringSpec,
  automationFiring,
} from '../../../src/api/automation-firing.ts'
import type { AutomationGraph, AutomationGraphSpec } from '../../../src/api/automation-graph.ts'
import { type EnvironmentSpec, environment } from '../../../src/api/environment.ts'
import { kinds } from '../../../src/api/kinds.ts'
import { annotations, labels } from '../../../src/api/labels.ts'
import { type Run, run } from '../../../src/api/run.ts'
import { type Session, session } from '../../../src/api/session.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import { type Job, jobType, type Pod, podType } from '../../../src/kube/core-types.ts'
import { isSettledFiring } from '../../../src/reconcilers/automation-firing/phase.ts'
import { aFiring, aGraph, anAgent, anAutomation, anEnvironment, unsaved } from '../../kit/builders.ts'
import { freshNamespace, testClient } from '../../kit/control-plane.ts'
import { installCrds } from '../../kit/crds.ts'
import { eventually } from '../../kit/eventually.ts'
import { Kubelet, type Play } from '../../kit/kubelet.ts'
import { lintStatus } from '../../kit/lint-status.ts'
import { recordingRunner } from '../../kit/pod-runner.ts'

/** What the pod of a step answers (nothing: `done`), and how it comes to its end. */
export interface Line extends Play {
  readonly answers?: string
}

/** What the pods of a test do, by step. */
export type Script = Readonly<Record<string, string | Line>>

/** A namespace with an Environment, an Agent and a ServiceAccount, in which pods are played by a script. */
export class Workspace {
  readonly client: KubeClient
  readonly namespace: string

  private constructor(client: KubeClient, namespace: string) {
    this.client = client
    this.namespace = namespace
  }

  /** Ends with the test. */
  static async create(script: Script = {}): Promise<Workspace> {
    const client = testClient({ types: kinds })
    onTestFinished(() => client.transport.close())
    await installCrds(client)
    const workspace = new Workspace(client, await freshNamespace(client))
    const { namespace } = workspace
    await client.create(unsaved(anEnvironment({ spec: { network: 'open' } }), namespace))
    await client.create(unsaved(anAgent(), namespace))
    await client.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'triage', namespace } })
    await workspace.#startKubelet(script)
    return workspace
  }

  async #startKubelet(script: Script): Promise<void> {
    const { client, namespace } = this
    const lineOf = (pod: Pod): Line => {
      const line = script[pod.metadata.labels?.[labels.step] ?? ''] ?? {}
      return typeof line === 'string' ? { answers: line } : line
    }
    const runner = recordingRunner(client, (pod) => lineOf(pod).answers ?? 'done')
    const kubelet = await new Kubelet({ client, namespace, runner, play: lineOf }).start()
    onTestFinished(() => kubelet.stop())
  }

  /** Creates the Automation `triage`, which runs one agent. */
  createAutomation(spec: Partial<AutomationSpec> = {}): Promise<Automation> {
    return this.client.create(unsaved(anAutomation({ spec }), this.namespace))
  }

  /** Creates the Automation `triage` and waits until it is ready. */
  async automate(): Promise<Automation> {
    await this.createAutomation()
    return this.automationReady()
  }

  /** Creates the graph `triage`, which is planned and applied, and makes the Automation of that name. */
  async applyGraph(spec: Partial<AutomationGraphSpec>): Promise<AutomationGraph> {
    const graph = await this.client.create(
      unsaved(aGraph({ spec: { applyPolicy: 'Automatic', ...spec } }), this.namespace),
    )
    await this.automationReady()
    return graph
  }

  automationReady(): Promise<Automation> {
    return eventually(async () => {
      const found = await this.automation()
      if (found.status?.state !== 'Active') throw new Error(`it is ${JSON.stringify(found.status)}`)
      return found
    })
  }

  automation(): Promise<Automation> {
    return this.client.get(automation, { name: 'triage', namespace: this.namespace })
  }

  fire(spec: Partial<AutomationFiringSpec> = {}, name = 'triage-manual-1'): Promise<AutomationFiring> {
    return this.client.create(unsaved(aFiring({ name, spec }), this.namespace))
  }

  firing(name = 'triage-manual-1'): Promise<AutomationFiring> {
    return this.client.get(automationFiring, { name, namespace: this.namespace })
  }

  /** Waits until the firing has settled. */
  async settled(name?: string): Promise<AutomationFiring> {
    const firing = await eventually(
      async () => {
        const found = await this.firing(name)
        if (!isSettledFiring(found)) throw new Error(`it is ${JSON.stringify(found.status)}`)
        return found
      },
      { timeout: 30_000 },
    )
    const problems = [firing, ...(await this.sessions())].flatMap(lintStatus)
    if (problems.length > 0) throw new Error(problems.join('\n'))
    return firing
  }

  /** Waits until the firing is in this phase, for this reason. */
  inPhase(phase: string, reason?: string): Promise<AutomationFiring> {
    return eventually(async () => {
      const found = await this.firing()
      const { status } = found
      if (status?.phase !== phase || (reason !== undefined && status.reason !== reason)) {
        throw new Error(`it is ${status?.phase} ${status?.reason} ${status?.message}`)
      }
      return found
    })
  }

  async sessions(): Promise<Session[]> {
    return (await this.client.list(session, { namespace: this.namespace })).items
  }

  async runs(): Promise<Run[]> {
    return (await this.client.list(run, { namespace: this.namespace })).items
  }

  async jobs(): Promise<Job[]> {
    return (await this.client.list(jobType, { namespace: this.namespace })).items
  }

  /** Asks the firing to end, as a person would. */
  cancel(why: string, name?: string): Promise<void> {
    return this.annotate({ [annotations.cancelRequested]: why }, name)
  }

  async annotate(wanted: Record<string, string>, name = 'triage-manual-1'): Promise<void> {
    const { apiVersion, kind } = automationFiring
    const patch = { metadata: { annotations: wanted } }
    await this.client.mergePatch({ apiVersion, kind, name, namespace: this.namespace }, patch)
  }

  async firings(): Promise<AutomationFiring[]> {
    return (await this.client.list(automationFiring, { namespace: this.namespace })).items
  }

  async pods(): Promise<Pod[]> {
    return (await this.client.list(podType, { namespace: this.namespace })).items
  }

  async deleteAutomation(propagation: 'Background' | 'Foreground'): Promise<void> {
    const { apiVersion, kind } = automation
    await this.client.delete({ apiVersion, kind, name: 'triage', namespace: this.namespace }, { propagation })
  }

  /** Waits until the Run of a step is in this phase. */
  runIn(phase: string, step = 'agent'): Promise<Run> {
    return eventually(async () => {
      const found = (await this.runs()).find(({ spec }) => spec.step === step)
      if (found?.status?.phase !== phase) throw new Error(`it is ${JSON.stringify(found?.status)}`)
      return found
    })
  }

  async editEnvironment(spec: Partial<EnvironmentSpec>): Promise<void> {
    const ref = {
      apiVersion: environment.apiVersion,
      kind: environment.kind,
      name: 'default',
      namespace: this.namespace,
    }
    await this.client.mergePatch(ref, { spec } as never)
  }

  async delete(kind: 'Environment' | 'Session' | 'AutomationFiring' | 'AutomationGraph', name: string): Promise<void> {
    const { apiVersion } = environment
    await this.client.delete({ apiVersion, kind, name, namespace: this.namespace })
  }
}

/** The document of triage and escalation: a decision on what the first agent answered chooses the second. */
export const triageGraph = {
  nodes: [
    { id: 'by-hand', kind: 'trigger', trigger: { kind: 'manual' } },
    { id: 'triage', kind: 'step_agent', agent: 'triager', prompt: 'Triage {{event.title}}' },
    {
      id: 'verdict',
      kind: 'step_parse_json',
      outputSchema: {
        type: 'object',
        properties: { escalate: { type: 'boolean' } },
        required: ['escalate'],
        additionalProperties: false,
      },
    },
    {
      id: 'urgent',
      kind: 'decision',
      inputBindings: { escalate: { sourceNodeId: 'verdict', pointer: '/escalate' } },
      condition: { kind: 'predicates', predicates: [{ kind: 'equals', pointer: '/escalate', value: true }] },
    },
    { id: 'escalate', kind: 'step_agent', agent: 'triager' },
    { id: 'log', kind: 'step_agent', agent: 'triager', prompt: 'Log it.' },
  ],
  edges: [
    { kind: 'starts', from: 'by-hand', to: 'triage' },
    { kind: 'then', from: 'triage', to: 'verdict' },
    { kind: 'output', from: 'triage', to: 'verdict' },
    { kind: 'then', from: 'verdict', to: 'urgent' },
    { kind: 'continue', from: 'urgent', to: 'escalate' },
    { kind: 'output', from: 'triage', to: 'escalate' },
    { kind: 'otherwise', from: 'urgent', to: 'log' },
  ],
} satisfies Partial<AutomationGraphSpec>

/** Two agents, one after the other. */
export const chainGraph = {
  nodes: [
    { id: 'by-hand', kind: 'trigger', trigger: { kind: 'manual' } },
    { id: 'triage', kind: 'step_agent', agent: 'triager', prompt: 'Triage.' },
    { id: 'log', kind: 'step_agent', agent: 'triager', prompt: 'Log.' },
  ],
  edges: [
    { kind: 'starts', from: 'by-hand', to: 'triage' },
    { kind: 'then', from: 'triage', to: 'log' },
  ],
} satisfies Partial<AutomationGraphSpec>

/** A command that ends when it is told to. */
export function heldCommand(): { readonly line: Line; readonly release: () => void } {
  const { promise, resolve } = Promise.withResolvers<{ exitCode: number }>()
  return { line: { command: () => promise }, release: () => resolve({ exitCode: 0 }) }
}
