import { expect } from 'vitest'
import type { KubeClient } from '../../../src/kube/client.ts'
import { type ConfigMap, configMapType } from '../../../src/kube/core-types.ts'
import { Informer, type WatchRestartReason } from '../../../src/kube/informer.ts'
import type { WatchTiming } from '../../../src/kube/pacing.ts'
import type { Change } from '../../../src/kube/store.ts'
import { eventually } from '../../kit/eventually.ts'

const label = { witness: 'yes' }

/** Writes ConfigMaps one after the other, past every fault, and knows each state that ever was. */
export class Writer {
  readonly #client: KubeClient
  readonly #namespace: string
  readonly #live = new Map<string, ConfigMap>()
  /** `name version` of each state. */
  readonly states = new Set<string>()
  writes = 0
  deletions = 0

  constructor(client: KubeClient, namespace: string) {
    this.#client = client
    this.#namespace = namespace
  }

  /** Writes until `until` says so. */
  async run(until: () => boolean): Promise<void> {
    while (!until()) await this.once()
  }

  /** One creation, change or deletion, in turn over a dozen names. */
  async once(): Promise<void> {
    const name = `n${(this.writes * 7) % 12}`
    const present = this.#live.get(name)
    if (present === undefined) this.#note(await this.#client.create(this.#object(name)))
    else if (this.writes % 5 === 0) await this.#remove(present)
    else this.#note(await this.#client.apply(this.#object(name), { fieldManager: 'writer' }))
    this.writes++
  }

  #object(name: string): ConfigMap {
    const { apiVersion, kind } = configMapType
    const metadata = { name, namespace: this.#namespace, labels: label }
    return { apiVersion, kind, metadata, data: { write: String(this.writes) } }
  }

  #note(object: ConfigMap): void {
    this.#live.set(object.metadata.name, object)
    this.states.add(stateOf(object))
  }

  async #remove({ apiVersion, kind, metadata }: ConfigMap): Promise<void> {
    await this.#client.delete({ apiVersion, kind, name: metadata.name, namespace: this.#namespace })
    this.#live.delete(metadata.name)
    this.deletions++
  }
}

const stateOf = (object: { readonly metadata: { readonly name: string; readonly resourceVersion?: string } }) =>
  `${object.metadata.name} ${object.metadata.resourceVersion}`

/** An informer, and everything it said. */
export class Witness {
  readonly informer: Informer<ConfigMap>
  readonly restarts: WatchRestartReason[] = []
  readonly #changes: Change<ConfigMap>[] = []
  readonly #client: KubeClient
  readonly #namespace: string
  readonly #stop = new AbortController()
  #ended: Promise<void> | undefined

  constructor(client: KubeClient, namespace: string, timing: Partial<WatchTiming> = {}) {
    this.#client = client
    this.#namespace = namespace
    this.informer = new Informer(client, configMapType, {
      namespace,
      labelSelector: 'witness=yes',
      timing: { firstBackoffMillis: 20, longestBackoffMillis: 200, establishedAfterMillis: 50, ...timing },
      onRestart: (reason) => this.restarts.push(reason),
      freeze: true,
    })
    this.informer.onChange((change) => this.#changes.push(change))
  }

  async start(): Promise<void> {
    this.#ended = this.informer.start(this.#stop.signal)
    await this.informer.synced
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#ended
    await this.#client.transport.close()
  }

  /** Waits until the store equals what a direct list shows. */
  async catchesUp(direct: KubeClient, timeout = 15_000): Promise<void> {
    await eventually(
      async () => {
        const live = await direct.list(configMapType, { namespace: this.#namespace, labelSelector: 'witness=yes' })
        expect(this.informer.store.list().map(stateOf).sort()).toEqual(live.items.map(stateOf).sort())
      },
      { timeout },
    )
  }

  /** It told of each state and each deletion once: so it must, as long as it never had to list again. */
  expectEverything(writer: Writer): void {
    const states = this.#changes.filter(({ type }) => type !== 'deleted').map(({ object }) => stateOf(object))
    expect(states.sort()).toEqual([...writer.states].sort())
    expect(this.#changes.filter(({ type }) => type === 'deleted')).toHaveLength(writer.deletions)
  }

  /**
   * Nothing invented: each state it told of was one. Nothing lost: what it told adds up to the store; an object is
   * added before it changes, and deleted before it is added again.
   */
  expectTruth(writer: Writer): void {
    const told = new Map<string, string>()
    for (const { type, object } of this.#changes) {
      const { name, uid = '' } = object.metadata
      expect(told.get(name), `${type} ${name}`).toBe(type === 'added' ? undefined : uid)
      if (type === 'deleted') told.delete(name)
      else {
        told.set(name, uid)
        expect(writer.states).toContain(stateOf(object))
      }
    }
    const held = this.informer.store.list().map(({ metadata }) => metadata.name)
    expect([...told.keys()].sort()).toEqual(held.sort())
  }
}
