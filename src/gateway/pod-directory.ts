import type { Run } from '../api/run.ts'
import type { Informer } from '../kube/informer.ts'
import type { Change, IndexFunction } from '../kube/store.ts'
import type { ObjectKey } from '../lib/object.ts'
import { keyOf } from '../lib/object.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import type { Clock } from '../runtime/clock.ts'

/** The run that a pod acts for; `replaced` where a newer incarnation took its place; `gone` where the run is deleted. */
export type PodStanding = { readonly run: ObjectKey } | 'replaced' | 'gone'

/** Index of the informer of Runs that a {@link PodDirectory} reads. */
export const runIndexes: Readonly<Record<string, IndexFunction<Run>>> = {
  pod: (run) => {
    const uid = run.status?.incarnation?.podUID
    return uid === undefined ? [] : [podKey(run.metadata.namespace, uid)]
  },
}

const rememberedPods = 10_000

/**
 * Which pod acts for which Run, by what the manager recorded in `Run.status.incarnation`: never by labels or owner
 * references of the pod, which whoever makes pods can write. Pods that were recorded once and are no more are
 * remembered, so that they are refused at once rather than told to wait.
 */
export class PodDirectory {
  readonly #informers: readonly Pick<Informer<Run>, 'store'>[]
  readonly #clock: Pick<Clock, 'after'>
  readonly #former = new Map<string, 'replaced' | 'gone'>()
  readonly #waiting = new Map<string, Set<() => void>>()

  /** @param informers of Runs: one for all namespaces, or one for each that is served */
  constructor(informers: readonly Pick<Informer<Run>, 'store' | 'onChange'>[], clock: Pick<Clock, 'after'>) {
    this.#informers = informers
    this.#clock = clock
    for (const informer of informers) informer.onChange((change) => this.#note(change))
  }

  /** Undefined for a pod that no Run has recorded: not yet, or never. */
  find(namespace: string, podUID: string): PodStanding | undefined {
    const key = podKey(namespace, podUID)
    const [run] = this.#informers.flatMap(({ store }) => store.byIndex('pod', key))
    if (run !== undefined) return { run: keyOf(run.metadata) }
    return this.#former.get(key)
  }

  /** Like {@link find}, but waits up to `millis` for the pod to be recorded. */
  async findSoon(
    namespace: string,
    podUID: string,
    millis: number,
    signal?: AbortSignal,
  ): Promise<PodStanding | undefined> {
    const found = this.find(namespace, podUID)
    if (found !== undefined || millis <= 0) return found
    await this.#recorded(podKey(namespace, podUID), millis, signal)
    return this.find(namespace, podUID)
  }

  #recorded(key: string, millis: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const waiters = this.#waiting.get(key) ?? new Set()
      const end = () => {
        cancel()
        signal?.removeEventListener('abort', end)
        waiters.delete(end)
        if (waiters.size === 0) this.#waiting.delete(key)
        resolve()
      }
      const cancel = this.#clock.after(millis, end)
      signal?.addEventListener('abort', end, { once: true })
      waiters.add(end)
      this.#waiting.set(key, waiters)
      if (signal?.aborted) end()
    })
  }

  #note({ type, object, old }: Change<Run>): void {
    const now = type === 'deleted' ? undefined : podOf(object)
    const before = type === 'deleted' ? podOf(object) : old && podOf(old)
    if (before !== undefined && before !== now) this.#remember(before, type === 'deleted' ? 'gone' : 'replaced')
    if (now === undefined) return
    this.#former.delete(now)
    for (const wake of [...(this.#waiting.get(now) ?? [])]) wake()
  }

  #remember(key: string, standing: 'replaced' | 'gone'): void {
    for (const oldest of this.#former.keys()) {
      if (this.#former.size < rememberedPods) break
      this.#former.delete(oldest)
    }
    this.#former.set(key, standing)
  }
}

function podOf(run: DeepReadonly<Run>): string | undefined {
  const uid = run.status?.incarnation?.podUID
  return uid === undefined ? undefined : podKey(run.metadata.namespace, uid)
}

function podKey(namespace: string | undefined, uid: string): string {
  return `${namespace ?? ''}/${uid}`
}
