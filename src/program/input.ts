import type { StepOutcome } from '../api/automation-firing.ts'
import type { Content } from '../api/fields.ts'
import type { Program } from '../api/program.ts'
import type { WorkPhase } from '../api/session.ts'
import type { Digest } from '../lib/digest.ts'
import type { ReadonlyJson } from '../lib/json.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import type { StepReason } from './reasons.ts'

/** A Session of the firing, as it is seen. */
export interface ObservedSession {
  readonly name: string
  readonly phase?: WorkPhase | undefined
  readonly reason?: string | undefined
  readonly message?: string | undefined
  readonly output?: Readonly<Content> | undefined
}

/** How the text of a parsing step fared against its schema. */
export type ParseResult =
  /** The value as compact JSON. */
  | { readonly kind: 'valid'; readonly text: string }
  | { readonly kind: 'invalid'; readonly reason: StepReason; readonly message: string }

/** Everything that a program's next move depends on. */
export interface AdvanceInput {
  readonly program: DeepReadonly<Program>
  /** Id of the trigger entered by. */
  readonly entry: string
  /** The event; undefined without one. */
  readonly event: ReadonlyJson | undefined
  /** Names of children follow from it. */
  readonly firingUid: string
  /** Outcomes as recorded, by step. */
  readonly recorded: DeepReadonly<Record<string, StepOutcome>>
  /** The Sessions of the firing, by step. */
  readonly sessions: ReadonlyMap<string, ObservedSession>
  /** Steps that are recorded as running and whose Session is not in the API server either. */
  readonly gone: ReadonlySet<string>
  /** Why no Session may be created now: a step that is ready to start fails with it. */
  readonly refusal?: { readonly reason: StepReason; readonly message: string } | undefined
  /** Why no Session may be created for now: steps that are ready to start wait. The reason is in CamelCase. */
  readonly held?: { readonly reason: string; readonly message: string } | undefined
  /** Why the program is to end, in words; undefined while nobody asked for it. Nothing new starts any more. */
  readonly cancelled?: string | undefined
  /** Evaluations made for earlier answers of this pass, by step. */
  readonly parsed: ReadonlyMap<string, ParseResult>
  /** Contents fetched for earlier answers of this pass. */
  readonly contents: ReadonlyMap<Digest, string>
  readonly now: Date
}
