import type { JsonObject } from '../lib/json.ts'
import type { KubeObject, ObjectKey, ObjectRef, ResourceType } from '../lib/object.ts'
import type { DeepReadonly } from '../lib/readonly.ts'

/**
 * What a reconciler wants done. The runtime does it in this order: create, apply, patch, annotate, delete, status,
 * finalizer, events.
 * A reconciler itself writes nothing: a crash between two writes is repaired by the next pass, because every name is
 * deterministic and every status write is a compare-and-set on the resourceVersion that the reconciler saw.
 */
export interface ReconcileResult<Status> {
  /**
   * Objects whose name is a lock. POSTed; on AlreadyExists the live object is read back: with the same controller
   * owner UID and content it is ours, otherwise the pass ends with {@link Terminal} `NameConflict`.
   */
  readonly create?: readonly KubeObject[]
  /** Objects whose content we keep: server-side apply, in order. */
  readonly apply?: readonly KubeObject[]
  /** Objects that are changed as they were seen, by compare-and-set, also in what another field manager owns. */
  readonly patch?: readonly Patched[]
  /** Annotations to set on objects, by which their reconcilers are asked for something. All else of them stays. */
  readonly annotate?: readonly Annotated[]
  /** Deleted in the background propagation mode, with a uid precondition where the reference has one. */
  readonly delete?: readonly ObjectRef[]
  /** Everything that this controller owns in status, whole. Written only where it differs. */
  readonly status?: Status
  /** Recorded after the writes succeeded. */
  readonly events?: readonly EventInput[]
  /** Counted in the metrics after the writes succeeded. */
  readonly counts?: readonly Count[]
  /** Milliseconds until the next pass, exact; absent: wait for a change. */
  readonly after?: number
  /** Everything that had to be done before the object may go is done: the runtime takes its finalizer off, last. */
  readonly finalized?: boolean
}

/** Something that happened once, for the metrics. No label names an object. */
export type Count =
  | {
      readonly metric: 'automationPaused'
      readonly labels: Readonly<
        Record<'automation_hash' | 'error_code' | 'failure_kind' | 'consecutive_failures' | 'surface', string>
      >
    }
  | { readonly metric: 'automationResumed'; readonly labels: Readonly<Record<'automation_hash' | 'via', string>> }
  /** Occurrences of a schedule that were decided and do not run. */
  | {
      readonly metric: 'occurrencesSkipped'
      readonly labels: Readonly<Record<'reason', string>>
      readonly times: number
    }
  /** A firing was made for an occurrence, so long after it should have started, jitter included. */
  | { readonly metric: 'occurrenceStarted'; readonly delaySeconds: number }

/** A merge patch (RFC 7386) for an object that exists, in the very version that it was made for. */
export interface Patched {
  readonly ref: ObjectRef
  readonly resourceVersion: string
  readonly patch: JsonObject
}

/** Annotations for an object that exists; one that is gone needs none. */
export interface Annotated {
  readonly ref: ObjectRef
  readonly annotations: Readonly<Record<string, string>>
}

/** An event to be shown by `kubectl describe`. */
export interface EventInput {
  /** The object the event is about; default the reconciled one. */
  readonly regarding?: ObjectRef
  readonly type: 'Normal' | 'Warning'
  /** PascalCase, past tense, stable. */
  readonly reason: string
  /** For people; cut to 1 KiB. */
  readonly note: string
  /** What was being done, a verb: `Plan`, `Create`. Default: the reason. */
  readonly action?: string
}

/** Reads from the caches. What is returned is shared: never change it. */
export interface Reader {
  get<T extends KubeObject>(type: ResourceType<T>, key: ObjectKey): DeepReadonly<T> | undefined
  list<T extends KubeObject>(type: ResourceType<T>, namespace?: string): readonly DeepReadonly<T>[]
  /** Objects for which the named index function gave `value`. Throws for an index that was not declared. */
  byIndex<T extends KubeObject>(type: ResourceType<T>, index: string, value: string): readonly DeepReadonly<T>[]
  /** Objects whose controlling owner has this UID. Every cached kind has this index. */
  byOwner<T extends KubeObject>(type: ResourceType<T>, ownerUid: string): readonly DeepReadonly<T>[]
  /** When somebody last changed the object's spec (RFC 3339, to the second), by its managedFields. */
  specChangedAt<T extends KubeObject>(type: ResourceType<T>, key: ObjectKey): string | undefined
}

/**
 * Not done and nobody's fault: a dependency is not there yet. Sets the condition, comes back, counts no error.
 * Thrown by a reconciler. The reason is CamelCase and stable, the message carries no ids, counts or times.
 */
export class Wait extends Error {
  override readonly name = 'Wait'
  readonly reason: string
  readonly afterMillis: number | undefined
  /** @param afterMillis when to look again; absent: a watched change will wake the key */
  constructor(reason: string, message: string, afterMillis?: number) {
    super(message)
    this.reason = reason
    this.afterMillis = afterMillis
  }
}

/** Only people can help, as a rule by changing the spec. Sets the condition False and Stalled, records one event. */
export class Terminal extends Error {
  override readonly name = 'Terminal'
  readonly reason: string
  readonly afterMillis: number | undefined
  /** @param afterMillis when to look again, where what helps is elsewhere and wakes nobody; absent: not at all */
  constructor(reason: string, message: string, afterMillis?: number) {
    super(message)
    this.reason = reason
    this.afterMillis = afterMillis
  }
}
