import { type Automation, automation } from '../../../src/api/automation.ts'
import { type AutomationFiring, automationFiring } from '../../../src/api/automation-firing.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import { KubeError } from '../../../src/kube/error.ts'
import { readLines } from '../../../src/kube/lines.ts'
import type { KubeObject, ResourceType } from '../../../src/lib/object.ts'
import { eventually } from '../../kit/eventually.ts'
import type { SeenFiring, SeenSkip } from './oracle.ts'

interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  readonly object: KubeObject
}

/**
 * Writes down every firing that ever was in a namespace, and everything its Automations ever said of skipped occurrences:
 * the raw events of two watches, without a cache between, so that a firing that was made again is a second one.
 */
export class Ledger {
  /** Told of each version of a firing as it comes. */
  onFiring: (firing: AutomationFiring) => void = () => {}
  readonly #client: KubeClient
  readonly #namespace: string
  readonly #now: () => number
  readonly #firings = new Map<string, SeenFiring & { readonly automation: string }>()
  readonly #skips = new Map<string, Map<string, SeenSkip>>()
  readonly #versions = new Map<string, bigint>()
  readonly #stop = new AbortController()
  readonly #watching: Promise<void>[] = []
  #problem: unknown

  private constructor(client: KubeClient, namespace: string, now: () => number) {
    this.#client = client
    this.#namespace = namespace
    this.#now = now
  }

  /** @param now the common clock */
  static async start(client: KubeClient, namespace: string, now: () => number): Promise<Ledger> {
    const ledger = new Ledger(client, namespace, now)
    await ledger.#watch(automationFiring, (firing) => ledger.#noteFiring(firing))
    await ledger.#watch(automation, (one) => ledger.#noteSkips(one))
    return ledger
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await Promise.all(this.#watching)
  }

  firings(automation: string): SeenFiring[] {
    return [...this.#firings.values()].filter((firing) => firing.automation === automation)
  }

  skips(automation: string): SeenSkip[] {
    return [...(this.#skips.get(automation)?.values() ?? [])]
  }

  /** Resolves when everything is written down that has happened by now. Throws if some of it cannot be. */
  async catchesUp(): Promise<void> {
    for (const type of [automationFiring, automation]) {
      const { items } = await this.#client.list(type as ResourceType<KubeObject>, { namespace: this.#namespace })
      const newest = items.map(({ metadata }) => BigInt(metadata.resourceVersion ?? 0))
      await eventually(
        () => {
          const version = this.#versions.get(type.kind) ?? 0n
          return this.#problem !== undefined || newest.every((one) => one <= version)
        },
        { timeout: 60_000 },
      )
    }
    if (this.#problem !== undefined) throw this.#problem
  }

  async #watch<T extends KubeObject>(type: ResourceType<T>, note: (object: T) => void): Promise<void> {
    const { resourceVersion } = await this.#client.list(type, { namespace: this.#namespace })
    this.#versions.set(type.kind, BigInt(resourceVersion))
    const first = await this.#open(type)
    this.#watching.push(this.#keepReading(first, type, note).catch((error) => this.#fail(error)))
  }

  /** From where the last one has ended, so that nothing is missed. */
  #open(type: ResourceType<KubeObject>): Promise<AsyncIterable<Uint8Array>> {
    const resourceVersion = String(this.#versions.get(type.kind))
    const scope = { namespace: this.#namespace, resourceVersion, timeoutSeconds: 3600, signal: this.#stop.signal }
    return this.#client.watch(type, scope)
  }

  async #keepReading<T extends KubeObject>(
    first: AsyncIterable<Uint8Array>,
    type: ResourceType<T>,
    note: (object: T) => void,
  ): Promise<void> {
    for (let stream = first; ; stream = await this.#open(type)) {
      try {
        for await (const lines of readLines(stream)) for (const line of lines) this.#hear(line, type, note)
      } catch (error) {
        // The server cuts off who is slow.
        if (!(error instanceof KubeError) || this.#stop.signal.aborted) throw error
      }
    }
  }

  #hear<T extends KubeObject>(line: string, type: ResourceType<T>, note: (object: T) => void): void {
    const event = JSON.parse(line) as WatchEvent
    if (event.type === 'ERROR') throw new Error(`the watch of ${type.kind} has lost events: ${line}`)
    if (event.type !== 'BOOKMARK') note(event.object as T)
    this.#versions.set(type.kind, BigInt(event.object.metadata.resourceVersion ?? 0))
  }

  #fail(error: unknown): void {
    if (!this.#stop.signal.aborted) this.#problem ??= error
  }

  #noteFiring(firing: AutomationFiring): void {
    const { metadata, spec, status } = firing
    const uid = metadata.uid ?? ''
    const before = this.#firings.get(uid)
    this.#firings.set(uid, {
      uid,
      automation: spec.automation.name,
      occurrence: spec.occurrence ?? '',
      seenAt: before?.seenAt ?? this.#now(),
      phase: status?.phase,
      reason: status?.reason,
      wasAdmitted: before?.wasAdmitted === true || status?.admission !== undefined,
    })
    this.onFiring(firing)
  }

  #noteSkips({ metadata, status }: Automation): void {
    const known = this.#skips.get(metadata.name) ?? new Map<string, SeenSkip>()
    this.#skips.set(metadata.name, known)
    for (const skip of status?.schedule?.skipped ?? []) known.set(JSON.stringify(skip), skip)
  }
}
