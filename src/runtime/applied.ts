import { digestJson } from '../lib/digest.ts'
import { type KubeObject, keyOf } from '../lib/object.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { contentOf } from './ownership.ts'

interface Memory {
  readonly uid: string | undefined
  readonly resourceVersion: string | undefined
  /** Digest of what we applied. */
  readonly intent: string
  /** Digest of what the server made of it, status and bookkeeping apart. */
  readonly state: string
}

const capacity = 20_000

/**
 * Remembers what was applied, so that the steady state sends nothing. An apply is skipped when the cached object is the
 * one that the same intent led to: in the same version, or in one that differs in its status alone.
 */
export class Applied {
  readonly #memories = new Map<string, Memory>()

  /** True when applying `intent` would change nothing of `cached`. */
  isCurrent(intent: KubeObject, cached: DeepReadonly<KubeObject> | undefined): boolean {
    const memory = this.#memories.get(idOf(intent))
    if (memory === undefined || cached === undefined || memory.uid !== cached.metadata.uid) return false
    if (memory.intent !== digestJson(intent)) return false
    return memory.resourceVersion === cached.metadata.resourceVersion || memory.state === stateOf(cached)
  }

  remember(intent: KubeObject, answer: KubeObject): void {
    const id = idOf(intent)
    this.#memories.delete(id)
    const { uid, resourceVersion } = answer.metadata
    this.#memories.set(id, { uid, resourceVersion, intent: digestJson(intent), state: stateOf(answer) })
    for (const oldest of this.#memories.keys()) {
      if (this.#memories.size <= capacity) break
      this.#memories.delete(oldest)
    }
  }
}

function idOf(object: KubeObject): string {
  return `${object.apiVersion} ${object.kind} ${keyOf(object.metadata)}`
}

function stateOf(object: DeepReadonly<KubeObject>): string {
  const { labels = {}, annotations = {}, ownerReferences = [], finalizers = [] } = object.metadata
  return digestJson({ labels, annotations, ownerReferences, finalizers, content: contentOf(object) })
}
