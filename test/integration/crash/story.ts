import { expect } from 'vitest'
import { type Agent, agent } from '../../../src/api/agent.ts'
import { type Automation, automation } from '../../../src/api/automation.ts'
import { type AutomationFiring, automationFiring } from '../../../src/api/automation-firing.ts'
import type { AutomationGraphSpec } from '../../../src/api/automation-graph.ts'
import { type AutomationGraphPlan, automationGraphPlan } from '../../../src/api/automation-graph-plan.ts'
import { type Environment, environment } from '../../../src/api/environment.ts'
import type { Content } from '../../../src/api/fields.ts'
import { labels } from '../../../src/api/labels.ts'
import { type Run, run } from '../../../src/api/run.ts'
import { type Session, session } from '../../../src/api/session.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import type { Pod } from '../../../src/kube/core-types.ts'
import { isAlreadyExists } from '../../../src/kube/error.ts'
import { digestBytes } from '../../../src/lib/digest.ts'
import type { KubeObject } from '../../../src/lib/object.ts'
import { isSettledFiring } from '../../../src/reconcilers/automation-firing/phase.ts'
import { conditionOf } from '../../../src/runtime/conditions.ts'
import { aFiring, aGraph, anAgent, anEnvironment, unsaved } from '../../kit/builders.ts'
import { freshNamespace } from '../../kit/control-plane.ts'
import { eventually } from '../../kit/eventually.ts'
import { Kubelet } from '../../kit/kubelet.ts'
import { lintStatus } from '../../kit/lint-status.ts'
import { gatewayRunner, type RunApi } from '../../kit/pod-runner.ts'

/** What the pods answer. The verdict is too large for a resource: it goes through the gateway's store, both ways. */
export const answers = {
  triage: JSON.stringify({ escalate: true, notes: 'The disk is full. '.repeat(1000) }),
  page: 'paged',
} as const

const firingName = 'triage-manual-1'
const patience = { timeout: 180_000, interval: 50 }

/** From a graph, through its plan, to one firing of two agents with a parse and a decision between them. */
export class Story {
  readonly namespace: string
  readonly #client: KubeClient
  readonly #kubelet: Kubelet

  private constructor(person: KubeClient, namespace: string, kubelet: Kubelet) {
    this.#client = person
    this.namespace = namespace
    this.#kubelet = kubelet
  }

  /**
   * A namespace with everything but the graph, and a kubelet for its pods.
   * @param options.namespace one that is there; default a fresh one
   * @param options.person who applies, approves and fires; default the administrator
   */
  static async prepare(
    client: KubeClient,
    api: RunApi,
    options: { readonly namespace?: string; readonly person?: KubeClient } = {},
  ): Promise<Story> {
    const namespace = options.namespace ?? (await freshNamespace(client))
    await client.create(unsaved(anEnvironment(), namespace))
    await client.create(unsaved(anAgent(), namespace))
    await client.create(unsaved(anAgent({ name: 'pager' }), namespace))
    await client.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'triage', namespace } })
    const runner = gatewayRunner(client, api, answerOf)
    const kubelet = await new Kubelet({ client, namespace, runner }).start()
    return new Story(options.person ?? client, namespace, kubelet)
  }

  stop(): Promise<void> {
    return this.#kubelet.stop()
  }

  /** Applies, approves and fires as a person would, and waits for the end. */
  async play(): Promise<void> {
    await eventually(() => this.#isPrepared(), patience)
    await this.#create(aGraph({ spec: document }))
    await this.#planIn('Pending')
    await this.#approve()
    await this.#planIn('Applied')
    await eventually(async () => expect((await this.#automation()).status?.state).toBe('Active'), patience)
    await this.#create(aFiring({ name: firingName, spec: { event: { title: 'Disk full' } } }))
    await eventually(async () => {
      const { last, active } = (await this.#automation()).status ?? {}
      expect([last?.firing, active]).toEqual([firingName, []])
    }, patience)
  }

  /** How the world looks to people in the end, without what differs between two worlds. */
  async outcome(): Promise<unknown> {
    const [firing, plan, sessions, runs] = await Promise.all([
      this.firing(),
      this.#plan(),
      this.#list<Session>(session),
      this.#list<Run>(run),
    ])
    expect([firing, plan, ...sessions, ...runs].flatMap(lintStatus)).toEqual([])
    expect(isSettledFiring(firing)).toBe(true)
    const steps = Object.entries(firing.status?.steps ?? {}).map(([id, { kind, arm, output }]) => {
      return [id, [kind, ...(arm === undefined ? [] : [arm]), ...told(output)]]
    })
    return {
      plan: plan.status?.phase,
      journal: plan.status?.journal?.map(({ action, state, name }) => `${action} ${name} ${state}`),
      firing: [firing.status?.phase, firing.status?.result, ...told(firing.status?.output)],
      steps: Object.fromEntries(steps),
      sessions: ended(sessions),
      runs: ended(runs),
    }
  }

  /** Agents are published and the Environment is looked at: what a graph needs is there before it is applied. */
  async #isPrepared(): Promise<boolean> {
    const [agents, environments] = await Promise.all([this.#list<Agent>(agent), this.#list<Environment>(environment)])
    const conditions = [...agents, ...environments].map(({ status }) => conditionOf(status?.conditions, 'Ready'))
    return conditions.every((condition) => condition?.status === 'True')
  }

  firing(): Promise<AutomationFiring> {
    return this.#client.get(automationFiring, { name: firingName, namespace: this.namespace })
  }

  async #automation(): Promise<Automation> {
    return this.#client.get(automation, { name: 'triage', namespace: this.namespace })
  }

  async #plan(): Promise<AutomationGraphPlan> {
    return this.#client.get(automationGraphPlan, { name: 'triage-1', namespace: this.namespace })
  }

  #planIn(phase: string): Promise<unknown> {
    return eventually(async () => expect((await this.#plan()).status?.phase).toBe(phase), patience)
  }

  async #approve(): Promise<void> {
    const { apiVersion, kind } = automationGraphPlan
    const ref = { apiVersion, kind, name: 'triage-1', namespace: this.namespace }
    await eventually(async () => {
      const { digest } = (await this.#plan()).spec.content
      await this.#client.mergePatch(ref, { spec: { approval: { digest, by: 'jane' } } })
    }, patience)
  }

  async #create(object: KubeObject): Promise<void> {
    await eventually(async () => {
      try {
        await this.#client.create(unsaved(object, this.namespace))
      } catch (error) {
        if (!isAlreadyExists(error)) throw error
      }
    }, patience)
  }

  async #list<T extends KubeObject>(type: Parameters<KubeClient['list']>[0]): Promise<T[]> {
    const { items } = await this.#client.list(type, { namespace: this.namespace })
    return items as T[]
  }
}

function answerOf({ metadata }: Pod): string {
  const step = metadata.labels?.[labels.step]
  return step === 'triage' ? answers.triage : answers.page
}

/** A content by what stands in it. */
function told(content: Content | undefined): string[] {
  if (content === undefined) return []
  if (content.inline !== undefined) return [content.inline]
  return [content.digest === digestBytes(answers.triage) ? 'the verdict' : content.digest]
}

function ended(objects: readonly (Session | Run)[]): unknown[] {
  return objects.map(({ spec, status }) => [spec.step, status?.phase, ...told(status?.output)]).sort()
}

const document = {
  nodes: [
    { id: 'by-hand', kind: 'trigger', trigger: { kind: 'manual' } },
    { id: 'triage', kind: 'step_agent', agent: 'triager', prompt: 'Triage {{event.title}}', includeEvent: true },
    {
      id: 'verdict',
      kind: 'step_parse_json',
      outputSchema: {
        type: 'object',
        properties: { escalate: { type: 'boolean' }, notes: { type: 'string' } },
        required: ['escalate', 'notes'],
        additionalProperties: false,
      },
    },
    {
      id: 'urgent',
      kind: 'decision',
      inputBindings: { escalate: { sourceNodeId: 'verdict', pointer: '/escalate' } },
      condition: { kind: 'predicates', predicates: [{ kind: 'equals', pointer: '/escalate', value: true }] },
    },
    { id: 'page', kind: 'step_agent', agent: 'pager', prompt: 'Page somebody.' },
  ],
  edges: [
    { kind: 'starts', from: 'by-hand', to: 'triage' },
    { kind: 'then', from: 'triage', to: 'verdict' },
    { kind: 'output', from: 'triage', to: 'verdict' },
    { kind: 'then', from: 'verdict', to: 'urgent' },
    { kind: 'continue', from: 'urgent', to: 'page' },
    { kind: 'output', from: 'triage', to: 'page' },
    { kind: 'otherwise', from: 'urgent' },
  ],
} satisfies Partial<AutomationGraphSpec>
