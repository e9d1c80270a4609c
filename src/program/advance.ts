import type { AutomationFiringStatus } from '../api/automation-firing.ts'
import type { Digest } from '../lib/digest.ts'
import { evaluateSteps } from './evaluate.ts'
import type { AdvanceInput } from './input.ts'
import { observeSessions } from './observe.ts'
import { Pass } from './pass.ts'
import { startAgents } from './start.ts'
import { type Summary, summarize } from './summary.ts'
import type { ParseWanted, SessionWanted } from './wanted.ts'

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
  /** Names of Sessions under way that are to be asked to end. */
  readonly cancel: readonly string[]
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
 * - A program that is cancelled starts nothing new and has what is under way cancelled; what that comes to is observed
 *   . Where nobody can know any more, that is the outcome, and not waited for.
 * - The result is there exactly when nothing is pending.
 */
export function advance(input: AdvanceInput): Advance {
  const pass = new Pass(input)
  observeSessions(pass)
  if (!pass.hasFailed && !pass.isCancelled) evaluateSteps(pass)
  if (!pass.hasFailed && !pass.isCancelled && !pass.isBlocked) startAgents(pass)
  return {
    ...summarize(pass),
    load: [...pass.load],
    parse: pass.parse,
    unseen: pass.unseen,
    put: pass.budget.put,
    sessions: pass.sessions,
    cancel: pass.isCancelled ? pass.inFlight.flatMap((id) => pass.outcomes.get(id)?.session ?? []) : [],
    outcomes: Object.fromEntries(pass.outcomes) as Advance['outcomes'],
  }
}
