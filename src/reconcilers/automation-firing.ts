import type { AutomationFiring, AutomationFiringStatus } from '../api/automation-firing.ts'
import { session } from '../api/session.ts'
import { namespaceOf } from '../lib/object.ts'
import type { Advance } from '../program/advance.ts'
import type { Reconcile, ReconcileContext } from '../runtime/controller.ts'
import { type EventInput, type ReconcileResult, Wait } from '../runtime/result.ts'
import { AbandonedBatch, abandonedStatus, millisToAbandonment } from './automation-firing/abandoned.ts'
import { admit } from './automation-firing/admission.ts'
import type { Firing, Pending, Rejection } from './automation-firing/checks.ts'
import { claim } from './automation-firing/claim.ts'
import { afterSettlement, cancelledBecause, isForced } from './automation-firing/ending.ts'
import { isSettledFiring, isSettledPhase } from './automation-firing/phase.ts'
import { isHeld, nextMove, type ProgramTools } from './automation-firing/program.ts'
import { sessionFor } from './automation-firing/session-object.ts'
import { type FiringNews, firingStatus } from './automation-firing/status.ts'
import { askToEnd } from './cancelling.ts'

type Result = ReconcileResult<AutomationFiringStatus>

/**
 * Runs firings: admits each once, when its Automation has started it, then advances its program until it has a result.
 * The admission is a write of its own, before anything takes effect; a Session is created before it is recorded.
 */
export function firingReconciler(tools: ProgramTools): Reconcile<AutomationFiring, AutomationFiringStatus> {
  const batch = new AbandonedBatch()
  return async (firing, context) => {
    if (isSettledFiring(firing)) return afterSettlement(firing, context)
    if (isForced(firing)) return { finalized: true }
    const claimed = claim(firing, context)
    // What is created must settle before the firing goes: the finalizer comes first.
    if (claimed !== undefined && firing.status?.admission !== undefined) return { apply: [claimed] }
    const result = await boundedPass(firing, context, tools, batch)
    const settles = isSettledPhase(result.status?.phase)
    return { ...result, ...(claimed !== undefined && { apply: [claimed] }), ...(settles && { finalized: true }) }
  }
}

/** A firing that was admitted goes on until it ends, or is stuck for so long that it is closed (N-175). */
async function boundedPass(
  firing: Firing,
  context: ReconcileContext,
  tools: ProgramTools,
  batch: AbandonedBatch,
): Promise<Result> {
  // What a pause holds may stand still for as long as people want.
  if (firing.status?.admission === undefined || isHeld(firing)) return await pass(firing, context, tools)
  const left = millisToAbandonment(firing, context.now)
  const wait = left >= 0 ? left + 1 : batch.take(context.now)
  if (wait === 0) return abandon(firing, context.now)
  try {
    const result = await pass(firing, context, tools)
    return { ...result, after: Math.min(result.after ?? wait, wait) }
  } catch (error) {
    if (!(error instanceof Wait)) throw error
    throw new Wait(error.reason, error.message, Math.min(error.afterMillis ?? wait, wait))
  }
}

function abandon(firing: Firing, now: Date): Result {
  const status = abandonedStatus(firing, now)
  const note = `${status.reason}: ${status.message}`
  return { status, events: [{ type: 'Warning', reason: 'Interrupted', note, action: 'End' }] }
}

async function pass(firing: Firing, context: ReconcileContext, tools: ProgramTools): Promise<Result> {
  const admission = firing.status?.admission
  const cancelled = cancelledBecause(firing)
  if (admission !== undefined) {
    const answer = await nextMove(firing, admission, cancelled, context, tools)
    const create = answer.sessions.map((wanted) => sessionFor(firing, admission, wanted))
    const open = answer.cancel.map((name) => ({ ...session, metadata: { name, ...namespaceOf(firing.metadata) } }))
    const annotate = open.map((one) => askToEnd(one, cancelled ?? ''))
    return { create, annotate, ...progress(firing, answer, context.now) }
  }
  if (cancelled !== undefined) return endUnstarted(firing, cancelled, context.now)
  const decision = await admit(firing, context)
  if (decision.kind === 'end') return reject(firing, decision, context.now)
  if (decision.kind === 'pending') return wait(firing, decision, context.now)
  const versions = decision.admission.pins.map(({ version }) => version).join(', ')
  const note = `Admitted with ${versions}.`
  return {
    status: firingStatus(firing, { phase: 'Running', admission: decision.admission }, context.now),
    events: [{ type: 'Normal', reason: 'Admitted', note, action: 'Admit' }],
  }
}

function reject(firing: Firing, { phase, reason, message }: Rejection, now: Date): Result {
  const result = phase === 'Failed' ? 'failed' : undefined
  return {
    status: firingStatus(firing, { phase, reason, message, result }, now),
    events: [{ type: 'Warning', reason, note: message, action: 'Admit' }],
  }
}

/** Nothing was started for it. Should it be admitted at this moment, this write fails. */
function endUnstarted(firing: Firing, why: string, now: Date): Result {
  const message = `It was cancelled by request (${why}) before anything was started for it.`
  return {
    status: firingStatus(firing, { phase: 'Cancelled', reason: 'Cancelled', message, result: 'cancelled' }, now),
    events: [{ type: 'Normal', reason: 'Cancelled', note: message, action: 'End' }],
  }
}

/** How young a firing is that need not say what it waits for: mostly that is over before anybody could read it. */
const unsaidMillis = 2000

function wait(firing: Firing, { reason, message, after }: Pending, now: Date): Result {
  const young = Date.parse(firing.metadata.creationTimestamp ?? '') + unsaidMillis - now.getTime()
  if (firing.status === undefined && young > 0 && young <= unsaidMillis)
    return { after: Math.min(young, after ?? young) }
  const status = firingStatus(firing, { phase: 'Pending', reason, message }, now)
  return { status, ...(after !== undefined && { after }) }
}

function progress(firing: Firing, answer: Advance, now: Date): Pick<Result, 'status' | 'events'> {
  const news = newsOf(answer)
  const status = firingStatus(firing, { ...news, step: answer.current, steps: answer.outcomes }, now)
  return { status, events: [...startEvents(answer), ...endEvents(firing, answer, news)] }
}

const phases = { completed: 'Succeeded', failed: 'Failed', cancelled: 'Cancelled' } as const

function newsOf({ result, failure, cancellation, waiting, output }: Advance): FiringNews {
  if (result !== undefined) return { phase: phases[result], result, output, ...(cancellation ?? failure) }
  if (cancellation !== undefined) return { phase: 'Running', ...cancellation }
  if (waiting !== undefined) return { phase: 'Waiting', ...waiting }
  // A failure is told at once, though what runs beside it has not settled yet.
  return { phase: 'Running', ...failure }
}

function startEvents({ sessions }: Advance): EventInput[] {
  return sessions.map(({ step, missing }) => {
    const lacks = missing.length === 0 ? '' : ` The event lacks ${missing.join(', ')}: left empty in the prompt.`
    const note = `Step ${step} started.${lacks}`
    return { type: 'Normal', reason: 'StepStarted', note, action: 'Start' }
  })
}

function endEvents(
  firing: Firing,
  { outcomes, failure }: Advance,
  { phase, reason, message }: FiringNews,
): EventInput[] {
  const events: EventInput[] = []
  const recorded = firing.status?.steps ?? {}
  const isNew = Object.entries(outcomes).some(([id, { kind }]) => kind === 'failed' && recorded[id]?.kind !== 'failed')
  if (isNew && failure !== undefined) {
    events.push({ type: 'Warning', reason: 'StepFailed', note: failure.message, action: 'Advance' })
  }
  if (phase === 'Succeeded') {
    events.push({
      type: 'Normal',
      reason: 'Succeeded',
      note: 'All steps that were to run have completed.',
      action: 'End',
    })
  }
  if (phase === 'Failed' || phase === 'Cancelled') {
    const type = phase === 'Failed' ? 'Warning' : 'Normal'
    events.push({ type, reason: phase, note: `${reason}: ${message}`, action: 'End' })
  }
  if (phase === 'Waiting' && firing.status?.reason !== reason) {
    events.push({ type: 'Warning', reason: reason ?? phase, note: message ?? '', action: 'Wait' })
  }
  return events
}
