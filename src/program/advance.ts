import type { AutomationFiringStatus, StepOutcome } from '../api/automation-firing.ts'
import type { Content } from '../api/fields.ts'
import type { Program } from '../api/program.ts'
import type { WorkPhase } from '../api/session.ts'
import type { Digest } from '../lib/digest.ts'
import type { ReadonlyJson } from '../lib/json.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { evaluateSteps } from './evaluate.ts'
import { observeSessions } from './observe.ts'
import { Pass } from './pass.ts'
import type { StepReason } from './reasons.ts'
import { startAgents } from './start.ts'
import { type Summary, summarize } from './summary.ts'

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
  /** Evaluations made for earlier answers of this pass, by step. */
  readonly parsed: ReadonlyMap<string, ParseResult>
  /** Contents fetched for earlier answers of this pass. */
  readonly contents: ReadonlyMap<Digest, string>
  readonly now: Date
}

/** A Session to be created. The same step always wants the same Session. */
export interface SessionWanted {
  readonly step: string
  readonly name: string
  /** Name of the Agent; the firing's admission has its pin. */
  readonly agent: string
  readonly prompt: Content
  readonly bindings?: Readonly<Record<string, Content>>
  readonly timeoutSeconds?: number
  /** References of the prompt to what the event lacks; they rendered empty. */
  readonly missing: readonly string[]
}

/** A text to be parsed and checked against a schema, in a worker. */
export interface ParseWanted {
  readonly step: string
  readonly text: string
  readonly schema: DeepReadonly<Record<string, unknown>>
}

/** What to do about a program. */
export interface Advance extends Summary {
  /**
   * Contents to fetch, evaluations to make and Sessions to look for in the API server: while there are any, do so and
   * call again with what was found. Nothing else of the answer counts until then.
   */
  readonly load: readonly Digest[]
  readonly parse: readonly ParseWanted[]
  readonly unseen: readonly string[]
  /** Texts to store before anything that names them is written. */
  readonly put: ReadonlyMap<Digest, string>
  /** Sessions to create before the outcomes are recorded. */
  readonly sessions: readonly SessionWanted[]
  /** The outcomes to record, whole. */
  readonly outcomes: NonNullable<AutomationFiringStatus['steps']>
}

/**
 * The next move of a program: a pure function of what is recorded and seen.
 * - Applied to its own result it changes nothing; a terminal outcome never changes; the order in which Sessions settle
 *   does not change the outcomes of a program in which nothing fails.
 * - Steps that need no pod are taken as far as they go in one call, so that one status write records them all.
 * - A failure lets Sessions under way settle and starts nothing new; steps that did not start have no outcome. A step
 *   whose Session is Indeterminate stays running: nothing that depends on it runs.
 * - The result is there exactly when nothing is pending.
 */
export function advance(input: AdvanceInput): Advance {
  const pass = new Pass(input)
  observeSessions(pass)
  if (!pass.hasFailed) evaluateSteps(pass)
  if (!pass.hasFailed && !pass.isBlocked) startAgents(pass)
  return {
    ...summarize(pass),
    load: [...pass.load],
    parse: pass.parse,
    unseen: pass.unseen,
    put: pass.budget.put,
    sessions: pass.sessions,
    outcomes: Object.fromEntries(pass.outcomes) as Advance['outcomes'],
  }
}
