import type { ListOptions } from '../../src/kube/call-options.ts'
import type { KubeClient } from '../../src/kube/client.ts'
import { type KubeObject, keyOf, type ResourceType } from '../../src/lib/object.ts'
import { controllerOf } from '../../src/lib/owner-references.ts'
import { type DeepReadonly, deepFreeze } from '../../src/lib/readonly.ts'
import type { ReconcileContext } from '../../src/runtime/controller.ts'
import { silentLogger } from '../../src/runtime/log.ts'
import type { Reader } from '../../src/runtime/result.ts'

export interface ContextGiven {
  /** What the caches hold. */
  readonly cached?: readonly KubeObject[]
  /** What the API server holds; default the same. */
  readonly live?: readonly KubeObject[]
  readonly now?: Date
}

/** A reconciler's surroundings, out of the given objects: frozen, so that a reconciler that changes one fails. */
export function reconcileContext({ cached = [], live = cached, now }: ContextGiven): ReconcileContext {
  return {
    read: readerOf(cached),
    now: now ?? new Date('2026-11-30T12:00:05Z'),
    log: silentLogger,
    signal: new AbortController().signal,
    live: clientOf(live),
  }
}

function readerOf(objects: readonly KubeObject[]): Reader {
  const ofKind = <T extends KubeObject>({ kind }: ResourceType<T>) =>
    objects
      .filter((object) => object.kind === kind)
      .map((object) => deepFreeze(structuredClone(object)) as DeepReadonly<T>)
  return {
    get: (type, key) => ofKind(type).find(({ metadata }) => keyOf(metadata) === key),
    list: (type, namespace) =>
      ofKind(type).filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace),
    byIndex: () => {
      throw new Error('no index here')
    },
    byOwner: (type, uid) => ofKind(type).filter((object) => controllerOf(object)?.uid === uid),
    specChangedAt: () => undefined,
  }
}

function clientOf(objects: readonly KubeObject[]): KubeClient {
  const find = async <T extends KubeObject>(
    { kind }: ResourceType<T>,
    { name, namespace }: { name: string; namespace?: string },
  ): Promise<T | undefined> => {
    const found = objects.find(
      ({ kind: its, metadata }) => its === kind && metadata.name === name && metadata.namespace === namespace,
    )
    return structuredClone(found) as T | undefined
  }
  const list = async ({ kind }: ResourceType<KubeObject>, { namespace, labelSelector = '' }: ListOptions) => {
    const [label = '', value] = labelSelector.split('=')
    const items = objects.filter(
      ({ kind: its, metadata }) =>
        its === kind && metadata.namespace === namespace && (value === undefined || metadata.labels?.[label] === value),
    )
    return { items: structuredClone(items), resourceVersion: '1' }
  }
  return { find, list } as unknown as KubeClient
}
