import type { RunCause, RunResult } from '../../api/run.ts'
import type { Job, Pod } from '../../kube/core-types.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'

/** One incarnation as the caches show it. */
export interface Observed {
  /** The Job that was recorded; undefined where it is gone. */
  readonly job: DeepReadonly<Job> | undefined
  /** The recorded pod; undefined where there is none, or none any more. */
  readonly pod: DeepReadonly<Pod> | undefined
  /** Node of the pod; undefined where it never had one. */
  readonly node: string | undefined
  /** True when the pod was recorded: only then could it talk to the gateway. */
  readonly podRecorded: boolean
  /** True when the main container was seen running. */
  readonly startSeen: boolean
  /** What the pod reported. */
  readonly result: DeepReadonly<RunResult> | undefined
  /** Since when the pod cannot start (RFC 3339); undefined where nothing was in its way at the last pass. */
  readonly blockedSince: string | undefined
  /** What the Job controller said when it was not allowed to make the pod. */
  readonly refusal: string | undefined
  /** When the step's time is up, in milliseconds since 1970; undefined where it has no limit of its own. */
  readonly timeUp: number | undefined
  readonly now: Date
}

/** Words of an outcome: a stable CamelCase reason, and for people what happened and what to do next. */
export interface Words {
  readonly reason: string
  readonly message: string
  /** What a program said about it, word for word: it may change by itself, and belongs in no condition. */
  readonly detail?: string
}

export type PodOutcome =
  /** The main container has not started, and nothing is wrong. */
  | (Words & { readonly kind: 'starting' })
  /** The pod cannot be made or started. `blocked`: not for long, see {@link Observed.blockedSince}. */
  | (Words & { readonly kind: 'waiting'; readonly blocked: boolean; readonly again?: number })
  /** `again` is when to look again, in milliseconds. */
  | (Words & { readonly kind: 'running'; readonly startedAt: string | undefined; readonly again?: number })
  | (Words & { readonly kind: 'succeeded'; readonly startedAt: string | undefined })
  | (Words & {
      readonly kind: 'failed'
      readonly cause: RunCause
      readonly exitCode?: number
      readonly startedAt?: string | undefined
    })
  /** The infrastructure took the pod. `started` is false only where the main container certainly did not run. */
  | (Words & { readonly kind: 'lost'; readonly started: boolean })

/** The run goes on with this incarnation. */
export type UnderWay = Extract<PodOutcome, { readonly kind: 'starting' | 'waiting' | 'running' }>
/** The run ends with this incarnation. */
export type Ended = Extract<PodOutcome, { readonly kind: 'succeeded' | 'failed' }>
export type Lost = Extract<PodOutcome, { readonly kind: 'lost' }>
