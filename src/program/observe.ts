import type { StepOutcome } from '../api/automation-firing.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import type { ObservedSession } from './input.ts'
import { cutMessage, failed, isTerminal, settled } from './outcomes.ts'
import type { Pass } from './pass.ts'
import { type StepReason, snakeCase } from './reasons.ts'

/**
 * Brings what is seen of the Sessions into the outcomes. A Session without a recorded outcome was created just before a
 * crash: its step has started.
 */
export function observeSessions(pass: Pass): void {
  for (const { id } of pass.steps) {
    const recorded = pass.outcomes.get(id)
    const session = pass.input.sessions.get(id)
    if (isTerminal(recorded)) continue
    if (session !== undefined) pass.record(id, outcomeOf(pass, recorded, session))
    else if (recorded?.session !== undefined) observeAbsence(pass, id, recorded)
  }
}

const unknown: StepReason = 'outcome_unknown'

/** A cache may be behind, so that only a look at the API server tells that a Session was deleted. */
function observeAbsence(pass: Pass, id: string, recorded: DeepReadonly<StepOutcome>): void {
  if (!pass.input.gone.has(id)) {
    pass.unseen.push(id)
    return
  }
  const message = 'its Session was deleted before it had settled'
  pass.record(id, settled(recorded, failed('session_deleted' satisfies StepReason, message), pass.input.now))
}

function outcomeOf(pass: Pass, recorded: DeepReadonly<StepOutcome> | undefined, session: ObservedSession): StepOutcome {
  const running = runningOutcome(session.name, recorded?.startedAt ?? pass.input.now.toISOString())
  switch (session.phase) {
    case 'Succeeded': {
      const { output } = session
      if (output?.inline !== undefined) pass.texts.set(output.digest, output.inline)
      const content = output === undefined ? pass.budget.keep('') : pass.budget.copy(output)
      return settled(running, { kind: 'completed', output: content }, pass.input.now)
    }
    case 'Failed':
      return settled(running, failed(snakeCase(session.reason ?? 'SessionFailed'), session.message), pass.input.now)
    case 'Cancelled':
      return settled(running, failed('cancelled' satisfies StepReason, session.message), pass.input.now)
    case 'Indeterminate':
      // Whoever cancels does not wait for what nobody can tell.
      if (pass.isCancelled) return settled(running, failed(unknown, session.message), pass.input.now)
      return { ...running, ...why(unknown, session.message) }
    case 'Waiting':
      return { ...running, ...why(snakeCase(session.reason ?? 'Waiting'), session.message) }
    default:
      return running
  }
}

/** A step whose Session is under way. */
export function runningOutcome(session: string, startedAt: string): StepOutcome {
  return { kind: 'running', attempt: 0, session, startedAt }
}

function why(reason: string, message: string | undefined): Pick<StepOutcome, 'reason' | 'message'> {
  return { reason: reason.slice(0, 128), ...(message !== undefined && { message: cutMessage(message) }) }
}
