import { randomBytes } from 'node:crypto'
import { runnerExits } from '../../src/api/run-api.ts'
import type { KubeClient } from '../../src/kube/client.ts'
import {
  type ContainerState,
  type ContainerStatus,
  type Pod,
  type PodStatus,
  podType,
} from '../../src/kube/core-types.ts'
import { isConflict, isNotFound, isUnavailable } from '../../src/kube/error.ts'
import { Informer } from '../../src/kube/informer.ts'
import { objectPath } from '../../src/kube/paths.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import type { ObjectRef } from '../../src/lib/object.ts'
import type { DeepReadonly } from '../../src/lib/readonly.ts'
import type { PodRunner } from './pod-runner.ts'

type Terminated = NonNullable<ContainerState['terminated']>

/** What happens in one pod. Everything has a default: a command that ends well at once. */
export interface Play {
  /** How `input` ends. */
  readonly input?: Partial<Terminated>
  /** How the command ends, when it does. Aborted when the pod is deleted. */
  readonly command?: (pod: Pod, signal: AbortSignal) => Partial<Terminated> | Promise<Partial<Terminated>>
  /** The command does not listen to SIGTERM: it ends when it ends. */
  readonly deaf?: boolean
  /** The main container never starts, for this reason. */
  readonly stuck?: NonNullable<ContainerState['waiting']>
  /** The node goes silent before this happens: nothing is heard of the pod any more. */
  readonly silentFrom?: 'input' | 'command' | 'end'
}

export interface KubeletOptions {
  readonly client: KubeClient
  /** Pods of this namespace are run. */
  readonly namespace: string
  /** What the operator's own containers do. */
  readonly runner: PodRunner
  readonly play?: (pod: Pod) => Play
}

/** The node went silent. */
class Silence extends Error {}

/**
 * Plays scheduler and kubelet for the pods of one namespace, where there is a control plane and no node: places each
 * pod, takes it through its containers by patching its status as a kubelet does, and removes it when it is deleted.
 * No image is pulled and no process runs. Jobs and their pods are made by the real controller manager.
 */
export class Kubelet {
  readonly node = `node-${randomBytes(4).toString('hex')}`
  /** Names of the pods that were placed, in this order. */
  readonly placed: string[] = []
  readonly #options: KubeletOptions
  readonly #pods: Informer<Pod>
  readonly #stop = new AbortController()
  readonly #running = new Map<string, { readonly deleted: AbortController; readonly end: Promise<void> }>()
  #watching: Promise<void> | undefined

  constructor(options: KubeletOptions) {
    this.#options = options
    this.#pods = new Informer(options.client, podType, { namespace: options.namespace })
  }

  async start(): Promise<this> {
    // Cordoned: the scheduler never puts pods of other tests on it.
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: this.node }, spec: { unschedulable: true } }
    await this.#options.client.transport.request({ method: 'POST', path: '/api/v1/nodes', body: node })
    this.#pods.onChange(({ type, object }) => {
      if (type !== 'deleted') this.#see(object)
    })
    this.#watching = this.#pods.start(this.#stop.signal)
    await this.#pods.synced
    return this
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    for (const { deleted } of this.#running.values()) deleted.abort()
    await Promise.all([this.#watching, ...[...this.#running.values()].map(({ end }) => end)])
    await this.#options.client.transport.request({ method: 'DELETE', path: `/api/v1/nodes/${this.node}` })
  }

  #see(pod: DeepReadonly<Pod>): void {
    const uid = pod.metadata.uid ?? ''
    const running = this.#running.get(uid)
    if (pod.metadata.deletionTimestamp !== undefined) running?.deleted.abort()
    const isPlaceable = pod.spec.nodeName === undefined && pod.metadata.deletionTimestamp === undefined
    if (running !== undefined || !isPlaceable) return
    const deleted = new AbortController()
    const end = this.#run(pod as Pod, deleted.signal).catch((error: unknown) => {
      const expected = error instanceof Silence || isNotFound(error) || this.#stop.signal.aborted
      if (!expected) console.error(`kubelet: pod ${pod.metadata.name} came to a bad end`, error)
    })
    this.#running.set(uid, { deleted, end })
  }

  async #run(pod: Pod, deleted: AbortSignal): Promise<void> {
    const play = this.#options.play?.(pod) ?? {}
    await this.#place(pod)
    const run = new PodRun(this.#options.client, pod, play, this.#options.runner, deleted)
    await Promise.race([run.toItsEnd(), aborted(this.#stop.signal)])
    await run.untilDeleted(this.#stop.signal)
  }

  /** What the scheduler does. */
  async #place({ metadata }: Pod): Promise<void> {
    const { name, namespace } = metadata
    const target = { apiVersion: 'v1', kind: 'Node', name: this.node }
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target }
    const path = objectPath(podType, { name, namespace }, 'binding')
    await again(async () => {
      try {
        await this.#options.client.transport.request({ method: 'POST', path, body: binding })
      } catch (error) {
        // Placed already: by the request whose answer was lost.
        if (!isConflict(error)) throw error
      }
    })
    this.placed.push(name)
  }
}

const waiting: ContainerState = { waiting: { reason: 'PodInitializing' } }
const started = (): ContainerState => ({ running: { startedAt: now() } })
const ended = (how: Partial<Terminated>, startedAt = now()): ContainerState => {
  const exitCode = how.exitCode ?? 0
  return {
    terminated: { reason: exitCode === 0 ? 'Completed' : 'Error', startedAt, finishedAt: now(), ...how, exitCode },
  }
}
const now = () => `${new Date().toISOString().slice(0, 19)}Z`

/** One pod on its way through its containers. */
class PodRun {
  readonly #client: KubeClient
  readonly #pod: Pod
  readonly #play: Play
  readonly #runner: PodRunner
  readonly #deleted: AbortSignal
  #states = { input: waiting, runner: waiting, agent: waiting }

  constructor(client: KubeClient, pod: Pod, play: Play, runner: PodRunner, deleted: AbortSignal) {
    this.#client = client
    this.#pod = pod
    this.#play = play
    this.#runner = runner
    this.#deleted = deleted
  }

  async toItsEnd(): Promise<void> {
    await this.#say({ runner: started(), input: started() }, { phase: 'Pending' })
    const input = await this.#input()
    const isOver = input.exitCode !== undefined && input.exitCode !== 0
    await this.#say(
      { input: ended(input), ...(isOver && { runner: ended({}) }) },
      { phase: isOver ? 'Failed' : 'Pending' },
    )
    if (isOver) return
    const { stuck } = this.#play
    if (stuck !== undefined) return this.#say({ agent: { waiting: stuck } }, { phase: 'Pending' })
    this.#hearUntil('command')
    const startedAt = now()
    await this.#say({ agent: started() }, { phase: 'Running' })
    const exit = await this.#command()
    this.#hearUntil('end')
    await this.#say({ agent: ended(exit, startedAt) }, { phase: 'Running' })
    await this.#say({ runner: ended(await this.#report()) }, { phase: exit.exitCode ? 'Failed' : 'Succeeded' })
  }

  /** Stays until the pod is deleted, and then confirms that nothing of it runs: only that lets it go. */
  async untilDeleted(stop: AbortSignal): Promise<void> {
    await aborted(AbortSignal.any([this.#deleted, stop]))
    if (!this.#deleted.aborted || stop.aborted) return
    const { name, namespace, uid } = this.#pod.metadata
    const body = { gracePeriodSeconds: 0, preconditions: { uid } }
    const path = objectPath(podType, { name, namespace })
    await this.#client.transport.request({ method: 'DELETE', path, body })
  }

  async #input(): Promise<Partial<Terminated>> {
    this.#hearUntil('input')
    if (this.#play.input?.exitCode) return this.#play.input
    await this.#runner.input(this.#pod, this.#deleted)
    return this.#play.input ?? {}
  }

  /** A command that is told to end does so at once, as most do. */
  async #command(): Promise<Partial<Terminated>> {
    const { command, deaf } = this.#play
    if (deaf === true) return (await command?.(this.#pod, this.#deleted)) ?? {}
    const told = aborted(this.#deleted).then(() => ({ exitCode: 143 }))
    return await Promise.race([command?.(this.#pod, this.#deleted) ?? {}, told])
  }

  /** A sidecar whose run is gone gives up; the pod ends all the same. */
  async #report(): Promise<Partial<Terminated>> {
    try {
      await this.#runner.report(this.#pod, this.#deleted)
      return {}
    } catch (error) {
      if (!isNotFound(error)) throw error
      return { exitCode: runnerExits.Refused }
    }
  }

  #hearUntil(moment: NonNullable<Play['silentFrom']>): void {
    if (this.#play.silentFrom === moment) throw new Silence()
  }

  /** Conditions belong to others as well, and are left alone. */
  async #say(
    states: Partial<Record<'input' | 'runner' | 'agent', ContainerState>>,
    { phase }: PodStatus,
  ): Promise<void> {
    this.#states = { ...this.#states, ...states }
    const { input, runner, agent } = this.#states
    const status = {
      phase,
      startTime: now(),
      initContainerStatuses: [statusOf('runner', runner), statusOf('input', input)],
      containerStatuses: [statusOf('agent', agent)],
    }
    const { name, namespace, uid } = this.#pod.metadata
    const ref: ObjectRef = { apiVersion: 'v1', kind: 'Pod', name, ...(namespace && { namespace }) }
    await again(() =>
      this.#client.mergePatch(ref, { metadata: { uid: uid ?? '' }, status } as unknown as JsonObject, {
        subresource: 'status',
      }),
    )
  }
}

/** All that the API server asks of a container's status. */
function statusOf(name: string, state: ContainerState): ContainerStatus {
  return { name, image: name, imageID: '', ready: state.running !== undefined, restartCount: 0, state }
}

/** Until it is done: a kubelet outlives an API server that restarts, if it does so within a minute. */
async function again<T>(write: () => Promise<T>): Promise<T> {
  const end = performance.now() + 60_000
  for (;;) {
    try {
      return await write()
    } catch (error) {
      const isWorthWaiting = isUnavailable(error) && performance.now() < end
      if (!isConflict(error) && !isWorthWaiting) throw error
      if (isWorthWaiting) await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
