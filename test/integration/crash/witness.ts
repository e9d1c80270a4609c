import { kinds } from '../../../src/api/kinds.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import { jobType, podType } from '../../../src/kube/core-types.ts'
import { Informer } from '../../../src/kube/informer.ts'
import { type KubeObject, keyOf, type ResourceType } from '../../../src/lib/object.ts'
import type { DeepReadonly } from '../../../src/lib/readonly.ts'
import { eventually } from '../../kit/eventually.ts'

/** An object at one of its versions. */
export type Seen = DeepReadonly<KubeObject> & { readonly spec?: unknown; readonly status?: unknown }

const patience = { timeout: 60_000 }

export interface Version {
  readonly type: 'added' | 'updated' | 'deleted'
  readonly object: Seen
}

/** Watches every kind that a firing is made of, and remembers every version of every object. */
export class Witness {
  readonly #versions = new Map<string, Version[]>()
  readonly #informers: Informer<KubeObject>[]
  readonly #listeners = new Set<(version: Version) => void>()
  readonly #stop = new AbortController()
  #watching: Promise<unknown> = Promise.resolve()

  constructor(client: KubeClient) {
    const types = [...kinds, jobType, podType] as unknown as ResourceType<KubeObject>[]
    this.#informers = types.map((type) => new Informer(client, type))
    for (const informer of this.#informers) {
      informer.onChange(({ type, object }) => this.#see({ type, object }))
    }
  }

  async start(): Promise<this> {
    this.#watching = Promise.all(this.#informers.map((informer) => informer.start(this.#stop.signal)))
    await Promise.all(this.#informers.map(({ synced }) => synced))
    return this
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#watching
  }

  /** Everything seen in a namespace, each kind in the order in which it happened. */
  history(namespace: string): readonly Version[] {
    return this.#versions.get(namespace) ?? []
  }

  /** Resolves when everything is seen that the namespace holds now. */
  async catchesUp(client: KubeClient, namespace: string): Promise<void> {
    for (const { type, store } of this.#informers) {
      const { items } = await client.list(type, { namespace })
      // A watch that was cut off again and again takes its time.
      await eventually(() => {
        for (const { metadata } of items) {
          const seen = store.get(keyOf(metadata))?.metadata.resourceVersion ?? '0'
          if (BigInt(seen) < BigInt(metadata.resourceVersion ?? '0'))
            throw new Error(`${metadata.name} was not seen yet`)
        }
      }, patience)
    }
  }

  /** Resolves with the first version, from now on, that is like this. */
  sees(isIt: (version: Version) => boolean): Promise<Version> {
    return new Promise((resolve) => {
      const listener = (version: Version) => {
        if (!isIt(version)) return
        this.#listeners.delete(listener)
        resolve(version)
      }
      this.#listeners.add(listener)
    })
  }

  #see(version: Version): void {
    const { namespace = '' } = version.object.metadata
    const versions = this.#versions.get(namespace) ?? []
    this.#versions.set(namespace, versions)
    versions.push(version)
    for (const listener of this.#listeners) listener(version)
  }
}

/** The versions of each object, by kind and UID. */
export function byObject(history: readonly Version[]): Map<string, Version[]> {
  return Map.groupBy(history, ({ object }) => `${object.kind} ${object.metadata.uid}`)
}

/** UIDs of all objects of the kind that ever were. */
export function everSeen(history: readonly Version[], kind: string): string[] {
  const ofKind = history.filter(({ object }) => object.kind === kind)
  return [...new Set(ofKind.map(({ object }) => object.metadata.uid ?? ''))]
}
