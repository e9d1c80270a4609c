import { type OutcomeKind, type StepOutcome, terminalOutcomeKinds } from '../api/automation-firing.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { shorten } from '../lib/text.ts'

type Outcome = DeepReadonly<StepOutcome>

const terminal: ReadonlySet<OutcomeKind> = new Set(terminalOutcomeKinds)
const failures: ReadonlySet<OutcomeKind> = new Set(['failed', 'rejected', 'denied'])

/** Characters of a message that a step outcome keeps, so that a hundred of them fit into one resource. */
const messageLimit = 1024

/** True for an outcome that never changes again. */
export function isTerminal(outcome: Outcome | undefined): boolean {
  return outcome !== undefined && terminal.has(outcome.kind)
}

/** True for an outcome that fails the program. */
export function isFailure(outcome: Outcome): boolean {
  return failures.has(outcome.kind)
}

/** The outcome of a step that settles now, whatever was recorded before. */
export function settled(before: Outcome | undefined, outcome: StepOutcome, now: Date): StepOutcome {
  const time = now.toISOString()
  return {
    ...(before?.attempt !== undefined && { attempt: before.attempt }),
    ...(before?.session !== undefined && { session: before.session }),
    ...(outcome.kind !== 'skipped' && { startedAt: before?.startedAt ?? time }),
    ...outcome,
    settledAt: time,
  }
}

/** The outcome of a step that fails. */
export function failed(reason: string, message: string | undefined): StepOutcome {
  return {
    kind: 'failed',
    reason: reason.slice(0, 128),
    ...(message !== undefined && { message: cutMessage(message) }),
  }
}

/** The message, as long as a step outcome keeps it. */
export function cutMessage(message: string): string {
  return shorten(message, messageLimit)
}
