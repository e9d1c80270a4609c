import type { KubeClient } from '../../src/kube/client.ts'
import { Informer } from '../../src/kube/informer.ts'
import type { KubeObject, ResourceType } from '../../src/lib/object.ts'
import type { DeepReadonly } from '../../src/lib/readonly.ts'

/** A state of an object, and when the watch brought it: milliseconds of `performance.now()`. */
export interface Sighting<T> {
  readonly at: number
  readonly object: DeepReadonly<T>
}

const patienceMillis = 120_000

/**
 * An independent observer: watches all objects of a kind in a namespace and remembers every state with its time. Both
 * sides of a comparison are timed by it, so that its own delay falls on both.
 */
export class Witness<T extends KubeObject> {
  readonly #kind: string
  readonly #seen: Sighting<T>[] = []
  readonly #waiting = new Set<() => void>()

  private constructor(kind: string) {
    this.#kind = kind
  }

  /** Resolves when the watch is established. */
  static async start<T extends KubeObject>(
    client: KubeClient,
    type: ResourceType<T>,
    namespace: string,
    signal: AbortSignal,
  ): Promise<Witness<T>> {
    const witness = new Witness<T>(type.kind)
    const informer = new Informer(client, type, { namespace })
    informer.onChange(({ object, type: change }) => {
      if (change === 'deleted') return
      witness.#seen.push({ at: performance.now(), object })
      for (const look of [...witness.#waiting]) look()
    })
    void informer.start(signal)
    await informer.synced
    return witness
  }

  /** The first state of each object, in the order of their arrival. */
  firstSightings(): Sighting<T>[] {
    const byUid = Map.groupBy(this.#seen, ({ object }) => object.metadata.uid)
    return [...byUid.values()].flatMap(([first]) => first ?? [])
  }

  /** The first state that is as asked for, of those seen already or of those to come. Throws after two minutes. */
  first(is: (object: DeepReadonly<T>) => boolean): Promise<Sighting<T>> {
    const found = this.#seen.find(({ object }) => is(object))
    if (found !== undefined) return Promise.resolve(found)
    return new Promise((resolve, reject) => {
      const look = () => {
        const newest = this.#seen.at(-1)
        if (newest === undefined || !is(newest.object)) return
        end()
        resolve(newest)
      }
      const timer = setTimeout(() => {
        end()
        reject(new Error(`no ${this.#kind} has become as expected within ${patienceMillis / 1000} s: ${is}`))
      }, patienceMillis)
      const end = () => {
        clearTimeout(timer)
        this.#waiting.delete(look)
      }
      this.#waiting.add(look)
    })
  }
}
