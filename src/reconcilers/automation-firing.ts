import { type Automation, automation } from '../api/automation.ts'
import { type AutomationFiring, type AutomationFiringStatus, automationFiring } from '../api/automation-firing.ts'
import { labels, managedByValue } from '../api/labels.ts'
import { type KubeObject, namespaceOf } from '../lib/object.ts'
import { controllerOf, ownedBy } from '../lib/owner-references.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import type { Advance } from '../program/advance.ts'
import type { Reconcile, ReconcileContext } from '../runtime/controller.ts'
import { type EventInput, type ReconcileResult, Wait } from '../runtime/result.ts'
import { AbandonedBatch, abandonedStatus, millisToAbandonment } from './automation-firing/abandoned.ts'
import { admit } from './automation-firing/admission.ts'
import type { Firing, Pending, Rejection } from './automation-firing/checks.ts'
import { isSettledFiring } from './automation-firing/phase.ts'
import { nextMove, type ProgramTools } from './automation-firing/program.ts'
import { sessionFor } from './automation-firing/session-object.ts'
import { type FiringNews, firingStatus } from './automation-firing/status.ts'

type Result = ReconcileResult<AutomationFiringStatus>

/**
 * Runs firings: admits each once, when its Automation has started it, then advances its program until it has a result.
 * The admission is a write of its own, before anything takes effect; a Session is created before it is recorded.
 */
export function firingReconciler(tools: ProgramTools): Reconcile<AutomationFiring, AutomationFiringStatus> {
  const batch = new AbandonedBatch()
  return async (firing, context) => {
    if (isSettledFiring(firing)) return {}
    const apply = claim(firing, context)
    const result = await boundedPass(firing, context, tools, batch)
    return { ...result, ...(apply.length > 0 && { apply }) }
  }
}

/** A firing that was admitted goes on until it ends, or is stuck for so long that it is closed (N-175). */
async function boundedPass(
  firing: Firing,
  context: ReconcileContext,
  tools: ProgramTools,
  batch: AbandonedBatch,
): Promise<Result> {
  if (firing.status?.admission === undefined) return await pass(firing, context, tools)
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
  if (admission !== undefined) {
    const answer = await nextMove(firing, admission, context, tools)
    const create = answer.sessions.map((wanted) => sessionFor(firing, admission, wanted))
    return { create, ...progress(firing, answer, context.now) }
  }
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

/**
 * People create firings bare: the Automation becomes their owner, and they get the labels they are found by. Firings
 * of other Automations of the same name, or with a controlling owner already, are left as they are.
 */
function claim(firing: Firing, { read }: ReconcileContext): KubeObject[] {
  const { name, namespace } = firing.metadata
  const found = read.get(automation, `${namespace}/${firing.spec.automation.name}`)
  if (found === undefined || !mayOwn(found, firing)) return []
  const graph = found.metadata.labels?.[labels.graph]
  const wanted = {
    [labels.managedBy]: managedByValue,
    [labels.automation]: found.metadata.name,
    ...(graph !== undefined && { [labels.graph]: graph }),
  }
  const isLabelled = Object.entries(wanted).every(([label, value]) => firing.metadata.labels?.[label] === value)
  if (isLabelled && controllerOf(firing) !== undefined) return []
  const metadata = { name, ...namespaceOf(firing.metadata), labels: wanted }
  const { apiVersion, kind } = automationFiring
  return [{ apiVersion, kind, metadata: { ...metadata, ownerReferences: [ownedBy(found)] } }]
}

function mayOwn({ metadata }: DeepReadonly<Automation>, firing: Firing): boolean {
  const { uid } = firing.spec.automation
  const owner = controllerOf(firing)?.uid
  return (uid === undefined || uid === metadata.uid) && (owner === undefined || owner === metadata.uid)
}

function reject(firing: Firing, { phase, reason, message }: Rejection, now: Date): Result {
  const result = phase === 'Failed' ? 'failed' : undefined
  return {
    status: firingStatus(firing, { phase, reason, message, result }, now),
    events: [{ type: 'Warning', reason, note: message, action: 'Admit' }],
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

function newsOf({ result, failure, waiting, output }: Advance): FiringNews {
  if (result !== undefined) return { phase: phases[result], result, output, ...failure }
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
    events.push({ type: 'Warning', reason: phase, note: `${reason}: ${message}`, action: 'End' })
  }
  if (phase === 'Waiting' && firing.status?.reason !== reason) {
    events.push({ type: 'Warning', reason: reason ?? phase, note: message ?? '', action: 'Wait' })
  }
  return events
}
