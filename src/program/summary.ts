import type { AutomationFiringStatus, StepOutcome } from '../api/automation-firing.ts'
import type { Content } from '../api/fields.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { shorten } from '../lib/text.ts'
import { isFailure } from './outcomes.ts'
import type { Pass } from './pass.ts'
import { camelCase, type StepReason } from './reasons.ts'

/** Why something waits or failed, for a column and a condition. */
export interface Cause {
  /** CamelCase. */
  readonly reason: string
  readonly message: string
}

/** How a program stands, for people. */
export interface Summary {
  /** Steps under way, or the one that failed; empty when neither. */
  readonly current: string
  /** There exactly when nothing is pending. */
  readonly result?: NonNullable<AutomationFiringStatus['result']>
  /** What everything that is under way waits for. */
  readonly waiting?: Cause
  /** The failure that came first; pending siblings may still be under way. */
  readonly failure?: Cause
  /** Of a program that is being cancelled or was: how far that is. */
  readonly cancellation?: Cause
  /** Of a completed program: the output of its last agent step, else of its last step that has one. */
  readonly output?: Content
}

const currentLimit = 256

export function summarize(pass: Pass): Summary {
  const failure = firstFailure(pass)
  const cause = failure && { reason: camelCase(failure.outcome.reason ?? failure.outcome.kind), message: told(failure) }
  if (pass.isCancelled) return summarizeCancelled(pass, cause)
  if (pass.inFlight.length + pass.held.length > 0 || pass.isBlocked) {
    const waiting = waitingFor(pass)
    return {
      current: shorten([...pass.inFlight, ...pass.held].join(', '), currentLimit),
      ...(waiting !== undefined && { waiting }),
      ...(cause !== undefined && { failure: cause }),
    }
  }
  if (failure !== undefined && cause !== undefined) {
    return { current: shorten(failure.id, currentLimit), result: resultOfFailures(pass), failure: cause }
  }
  return completed(pass)
}

function completed(pass: Pass): Summary {
  const output = finalOutput(pass)
  return { current: '', result: 'completed', ...(output !== undefined && { output: pass.budget.repeat(output) }) }
}

/** What had ended by itself before the request could take effect has its own result. */
function summarizeCancelled(pass: Pass, failure: Cause | undefined): Summary {
  const why = `by request (${pass.input.cancelled})`
  if (pass.inFlight.length > 0) {
    const current = shorten(pass.inFlight.join(', '), currentLimit)
    const message = `It is being cancelled ${why}; what is under way is told to end: ${current}.`
    return { current, cancellation: { reason: 'Cancelling', message } }
  }
  if (failure !== undefined && resultOfFailures(pass) === 'failed') {
    return { current: firstFailure(pass)?.id ?? '', result: 'failed', failure }
  }
  if (failure === undefined && pass.untouched.length === 0) return completed(pass)
  const lost = failuresOf(pass).filter(({ outcome }) => outcome.reason !== cancelledReason)
  const unknown = lost.map(({ id }) => id).join(', ')
  const message = `It was cancelled ${why}.${unknown === '' ? '' : ` What became of ${unknown} is not known: look at what was done.`}`
  return {
    current: shorten(
      failuresOf(pass)
        .map(({ id }) => id)
        .join(', '),
      currentLimit,
    ),
    result: 'cancelled',
    cancellation: { reason: 'Cancelled', message },
  }
}

interface Failed {
  readonly id: string
  readonly outcome: DeepReadonly<StepOutcome>
}

function failuresOf(pass: Pass): Failed[] {
  return pass.steps.flatMap(({ id }) => {
    const outcome = pass.outcomes.get(id)
    return outcome !== undefined && isFailure(outcome) ? [{ id, outcome }] : []
  })
}

function firstFailure(pass: Pass): Failed | undefined {
  const time = ({ outcome }: Failed) => outcome.settledAt ?? ''
  return failuresOf(pass).reduce<Failed | undefined>(
    (first, next) => (first === undefined || time(next) < time(first) ? next : first),
    undefined,
  )
}

function told({ id, outcome: { message } }: Failed): string {
  return message === undefined ? `Step ${id} failed.` : `Step ${id} failed: ${message}`
}

const cancelledReason: StepReason = 'cancelled'
/** With what the work of a cancelled program may end. */
const givenUp: readonly (string | undefined)[] = [
  cancelledReason,
  'outcome_unknown' satisfies StepReason,
  'session_deleted' satisfies StepReason,
]

/** Cancelled work alone makes a cancelled program, any real failure a failed one. */
function resultOfFailures(pass: Pass): 'failed' | 'cancelled' {
  const lawful = pass.isCancelled ? givenUp : [cancelledReason]
  return failuresOf(pass).every(({ outcome }) => lawful.includes(outcome.reason)) ? 'cancelled' : 'failed'
}

/** Something that is under way and needs nothing keeps the whole from waiting. */
function waitingFor(pass: Pass): Cause | undefined {
  if (pass.inFlight.length === 0 && pass.held.length > 0) return pass.input.held
  const outcomes = pass.inFlight.flatMap((id) => {
    const outcome = pass.outcomes.get(id)
    return outcome === undefined ? [] : [{ id, outcome }]
  })
  const [first] = outcomes
  if (first?.outcome.reason === undefined || outcomes.some(({ outcome }) => outcome.reason === undefined))
    return undefined
  const { reason, message } = first.outcome
  return { reason: camelCase(reason), message: `Step ${first.id} waits${message === undefined ? '.' : `: ${message}`}` }
}

function finalOutput(pass: Pass): DeepReadonly<Content> | undefined {
  const withOutput = pass.steps.filter(({ id }) => pass.outcomes.get(id)?.output !== undefined)
  const last = withOutput.findLast(({ kind }) => kind === 'agent') ?? withOutput.at(-1)
  return last && pass.outcomes.get(last.id)?.output
}
