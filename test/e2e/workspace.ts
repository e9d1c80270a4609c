import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import { type Automation, automation } from '../../src/api/automation.ts'
import { type AutomationFiring, automationFiring } from '../../src/api/automation-firing.ts'
import { kinds } from '../../src/api/kinds.ts'
import { labels } from '../../src/api/labels.ts'
import { type Run, run as runType } from '../../src/api/run.ts'
import { type Session, session as sessionType } from '../../src/api/session.ts'
import { type Job, jobType, type Pod, podType } from '../../src/kube/core-types.ts'
import type { KubeObject, ResourceType } from '../../src/lib/object.ts'
import { compareText } from '../../src/lib/text.ts'
import { isSettledFiring } from '../../src/reconcilers/automation-firing/phase.ts'
import { workspaceLabels } from '../kit/cluster-context.ts'
import { eventually } from '../kit/eventually.ts'
import { lintStatus } from '../kit/lint-status.ts'
import { type Answer, kubectl, observer, runTool, type UserOptions } from '../kit/node-cluster.ts'

const pause = 200

/** A namespace that enforces Pod Security `restricted`, as its administrator sees it. */
export class Workspace {
  readonly namespace: string

  private constructor(namespace: string) {
    this.namespace = namespace
  }

  /** @param story first part of the namespace's name */
  static async create(story: string): Promise<Workspace> {
    const workspace = new Workspace(`${story}-${randomBytes(3).toString('hex')}`)
    const { namespace: name } = workspace
    const restricted = { 'pod-security.kubernetes.io/enforce': 'restricted' }
    const metadata = { name, labels: { ...workspaceLabels, ...restricted } }
    await workspace.apply({ apiVersion: 'v1', kind: 'Namespace', metadata })
    return workspace
  }

  /** kubectl in this namespace; it must succeed. */
  kubectl(...args: readonly string[]): Promise<string> {
    return kubectl(['-n', this.namespace, ...args])
  }

  /** kubectl in this namespace, whatever it answers. */
  tryKubectl(args: readonly string[], options: UserOptions = {}): Promise<Answer> {
    return runTool('kubectl', ['-n', this.namespace, ...args], options)
  }

  /** Applies objects as a person does: `kubectl apply --server-side`. */
  async apply(...items: readonly object[]): Promise<void> {
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
    await kubectl(['apply', '--server-side', '-n', this.namespace, '-f', '-'], { input })
  }

  /** The command line tool in this namespace, whatever it answers. */
  graphwright(args: readonly string[], options: UserOptions = {}): Promise<Answer> {
    return runTool('graphwright', [...args, '-n', this.namespace], options)
  }

  /** What the tool prints as data; it must end with 0. */
  async ask<T>(...args: readonly string[]): Promise<T> {
    const { code, stdout, stderr } = await this.graphwright([...args, '-o', 'json'])
    expect(code, `graphwright ${args.join(' ')}: ${stderr}`).toBe(0)
    return JSON.parse(stdout) as T
  }

  /** Waits until a graph that is applied without review can be fired. */
  async applied(graph: string): Promise<void> {
    await this.kubectl('wait', `agraph/${graph}`, '--for=condition=Applied', '--timeout=60s')
    await this.kubectl('wait', `auto/${graph}`, '--for=condition=Ready', '--timeout=60s')
  }

  /** Fires an Automation by the tool and returns the firing's name. */
  async fire(automation: string, ...args: readonly string[]): Promise<string> {
    const { firing } = await this.ask<{ firing: string }>('run', automation, ...args)
    return firing
  }

  automation(name: string): Promise<Automation> {
    return observer().get(automation, { name, namespace: this.namespace })
  }

  /** All firings, the oldest first. */
  async firings(): Promise<AutomationFiring[]> {
    const found = await this.list(automationFiring)
    const since = ({ spec, metadata }: AutomationFiring) => spec.occurrence ?? metadata.creationTimestamp ?? ''
    return found.toSorted((a, b) => compareText(since(a), since(b)))
  }

  firing(name: string): Promise<AutomationFiring> {
    return observer().get(automationFiring, { name, namespace: this.namespace })
  }

  /** Waits until a firing has settled. */
  settled(name: string, timeout = 90_000): Promise<AutomationFiring> {
    return this.firingThat(name, isSettledFiring, timeout)
  }

  /** Waits until a firing is in a phase for a reason. */
  firingIn(name: string, phase: string, reason: string, timeout = 60_000): Promise<AutomationFiring> {
    return this.firingThat(name, ({ status }) => status?.phase === phase && status.reason === reason, timeout)
  }

  private firingThat(
    name: string,
    isSo: (firing: AutomationFiring) => boolean,
    timeout: number,
  ): Promise<AutomationFiring> {
    return eventually(
      async () => {
        const firing = await this.firing(name)
        if (isSo(firing)) return firing
        const { phase, reason, message, step } = firing.status ?? {}
        throw new Error(`the firing ${name} is ${phase} (${reason}) at ${step}: ${message}`)
      },
      { timeout, interval: pause },
    )
  }

  sessions(): Promise<Session[]> {
    return this.list(sessionType)
  }

  runs(): Promise<Run[]> {
    return this.list(runType)
  }

  /** The Run of a step. */
  async run(step: string): Promise<Run> {
    const [found, ...others] = (await this.runs()).filter(({ spec }) => spec.step === step)
    if (found === undefined || others.length > 0) throw new Error(`step ${step} has ${others.length + 1} Runs`)
    return found
  }

  jobs(): Promise<Job[]> {
    return this.list(jobType)
  }

  pods(): Promise<Pod[]> {
    return this.list(podType)
  }

  private async list<T extends KubeObject>(type: ResourceType<T>): Promise<T[]> {
    return (await observer().list(type, { namespace: this.namespace })).items
  }

  /** Waits until the command of a step runs, and returns its pod. */
  running(step: string): Promise<Pod> {
    return eventually(
      async () => {
        const pods = (await this.pods()).filter(({ metadata }) => metadata.labels?.[labels.step] === step)
        const found = pods.find((pod) => isAgentRunning(pod) && pod.metadata.deletionTimestamp === undefined)
        const run = await this.run(step)
        if (found !== undefined && run.status?.incarnation?.podUID === found.metadata.uid) return found
        throw new Error(`step ${step} does not run: ${JSON.stringify(pods.map(({ status }) => status))}`)
      },
      { timeout: 60_000, interval: pause },
    )
  }

  /** Waits until the command of a step runs in another pod than this one. */
  runningAfter(step: string, before: Pod): Promise<Pod> {
    return eventually(
      async () => {
        const pod = await this.running(step)
        return pod.metadata.uid !== before.metadata.uid && pod
      },
      { timeout: 60_000, interval: pause },
    )
  }

  /** Lets a command of {@link gated} go on. */
  async release(pod: Pod): Promise<void> {
    await this.kubectl('exec', pod.metadata.name, '-c', 'agent', '--', 'touch', gateFile)
  }

  /** All objects of ours here. */
  async objects(): Promise<KubeObject[]> {
    const lists = await Promise.all(kinds.map((type) => this.list<KubeObject>(type)))
    return lists.flat()
  }

  /** What is wrong with their statuses. */
  async lint(): Promise<string[]> {
    return (await this.objects()).flatMap(lintStatus)
  }
}

function isAgentRunning({ status }: Pod): boolean {
  return status?.containerStatuses?.some(({ name, state }) => name === 'agent' && state?.running !== undefined) ?? false
}

const gateFile = '/tmp/go'

/** A shell script that waits until it is released, then goes on. It ends at once when its pod is to end. */
export function gated(script: string): string {
  return `trap 'exit 143' TERM; until [ -e ${gateFile} ]; do sleep 0.1; done; ${script}`
}
