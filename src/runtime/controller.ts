import type { KubeClient } from '../kube/client.ts'
import {
  type Condition,
  type KubeObject,
  keyOf,
  namespaceOf,
  type ObjectKey,
  type Resource,
  type ResourceType,
} from '../lib/object.ts'
import { controllerOf } from '../lib/owner-references.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import type { Logger } from './log.ts'
import type { Reader, ReconcileResult } from './result.ts'

/** The part of a status that the runtime itself writes. */
export interface StatusBase {
  conditions?: Condition[] | undefined
  observedGeneration?: number | undefined
}

/** What a reconciler gets beside its object. */
export interface ReconcileContext {
  /** The caches. Every kind read here must be the controller's own, watched, or listed in `reads`. */
  readonly read: Reader
  /** The time of this pass. */
  readonly now: Date
  readonly log: Logger
  /** Aborted when the process stops and does not wait any longer. */
  readonly signal: AbortSignal
  /** The API server itself, for what a cache must not decide. Writes belong in the result. */
  readonly live: KubeClient
}

/**
 * One pass: look at the object and the caches, decide, say what is to be done. Writes nothing itself.
 * Throws `Wait` or `Terminal` to report why nothing can be done; any other error is retried with back-off.
 */
export type Reconcile<T extends KubeObject, S> = (
  object: DeepReadonly<T>,
  context: ReconcileContext,
) => ReconcileResult<S> | Promise<ReconcileResult<S>>

/** Another kind whose changes wake keys of the controller. */
export interface Watch {
  readonly type: ResourceType<KubeObject>
  /** Keys to wake. Asked for the object before and after each change. */
  readonly keys: (object: DeepReadonly<KubeObject>, read: Reader) => readonly ObjectKey[]
}

/** A controller of one kind. */
export interface ControllerSpec<T extends Resource<unknown, S>, S extends StatusBase> {
  /** In metrics and logs; lower case. */
  readonly name: string
  readonly for: ResourceType<T>
  /** The condition in which errors are reported: `Ready` for what lives long, `Succeeded` for what ends. */
  readonly ready: 'Ready' | 'Succeeded'
  readonly watches?: readonly Watch[]
  /** Kinds that the reconciler reads without being woken by them. */
  readonly reads?: readonly ResourceType<KubeObject>[]
  readonly reconcile: Reconcile<T, S>
  /**
   * Derives from a status what columns show of it, such as `phase` from the condition `Succeeded`. Called for every
   * status that is written, those of failures too.
   */
  readonly summarize?: (status: S) => S
  /** Status fields that another process owns: never applied and never compared. */
  readonly foreignStatus?: readonly string[]
  /**
   * If set, the runtime adds it before the first pass (see {@link finalizerAddedBy}), calls `reconcile` with `deletionTimestamp` set when the object
   * is deleted, and takes it off when the result says `finalized`. Without it a deleted object is not reconciled.
   */
  readonly finalizer?: string
  /** Who adds it; default the runtime. A reconciler does so by an apply, where it applies to the object anyway. */
  readonly finalizerAddedBy?: 'runtime' | 'reconciler'
  /** False where another controller owns the status of the kind: failures are in logs and metrics alone. */
  readonly showsFailures?: boolean
  readonly fieldManager: string
  /**
   * `after` of a result is for an instant that people look at: a pass that was asked for so goes before everything else.
   * Such passes are to be short.
   */
  readonly timely?: boolean
  /** Keys worked on at once; default 4. */
  readonly concurrency?: number
}

/** A watch with the type of its objects. */
export function watch<T extends KubeObject>(
  type: ResourceType<T>,
  keys: (object: DeepReadonly<T>, read: Reader) => readonly ObjectKey[],
): Watch {
  return { type, keys: keys as Watch['keys'] }
}

/** A watch on children of a kind: wakes the controlling owner, if the cache holds the very owner (by UID). */
export function watchOwned<T extends KubeObject, Owner extends KubeObject>(
  type: ResourceType<T>,
  owner: ResourceType<Owner>,
): Watch {
  return watch(type, (object, read) => {
    const reference = controllerOf(object)
    if (reference === undefined || reference.kind !== owner.kind || reference.apiVersion !== owner.apiVersion) return []
    const key = keyOf({ name: reference.name, ...(owner.namespaced && namespaceOf(object.metadata)) })
    const cached: DeepReadonly<KubeObject> | undefined = read.get<KubeObject>(owner, key)
    return cached === undefined || cached.metadata.uid === reference.uid ? [key] : []
  })
}
