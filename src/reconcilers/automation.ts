import {
  type Automation,
  type AutomationSpec,
  type AutomationStatus,
  automation as automationKind,
  maxPendingFirings,
  type ReadinessEntry,
} from '../api/automation.ts'
import type { AutomationFiring } from '../api/automation-firing.ts'
import { automationGraph } from '../api/automation-graph.ts'
import { annotations, settleFinalizer } from '../api/labels.ts'
import { type KubeObject, keyOf, refOf } from '../lib/object.ts'
import { controllerOf } from '../lib/owner-references.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { type ConditionInput, setCondition } from '../runtime/conditions.ts'
import type { Reconcile, ReconcileContext } from '../runtime/controller.ts'
import type { Annotated } from '../runtime/result.ts'
import { describeTriggers } from '../schedule/describe.ts'
import { dateProblem, describePending, noPendingOccurrence } from '../schedule/once.ts'
import { firingsOf } from './automation/firings.ts'
import { readinessOf } from './automation/readiness.ts'
import { type AutomationState, decideSchedule, type ScheduleDecision } from './automation/schedule.ts'
import { crowdedPending, type Starting, startFirings } from './automation/starting.ts'
import { runsAgents } from './automation-firing/claim.ts'
import { isSettledFiring } from './automation-firing/phase.ts'

type Seen = DeepReadonly<Automation>
type Firing = DeepReadonly<AutomationFiring>

/**
 * Projects readiness, makes the firings of the schedule, and starts firings. Moving a firing into `active[]` is what
 * starts it: the write is a compare-and-set on this object, so that two managers cannot both decide.
 * @param requester user name of this manager, in whose name scheduled firings are made
 */
export function createAutomationReconciler(requester: string): Reconcile<Automation, AutomationStatus> {
  return async (automation, context) => {
    const firings = await firingsOf(automation, context)
    const readiness = readinessEntries(automation, context)
    const state = automation.spec.paused === true ? 'Paused' : readiness.length > 0 ? 'NotReady' : 'Active'
    const before = listed(automation, firings)
    const schedule = decideSchedule({
      automation,
      state,
      firings: firings.filter(({ spec }) => spec.trigger === 'schedule'),
      specChangedAt: specChangedAt(automation, context),
      isCrowded: before.pending.length >= crowdedPending,
      requester,
      now: context.now,
    })
    if (schedule.create.length > 0) return { create: withFinalizer(schedule.create, automation, context) }
    const { concurrencyPolicy } = automation.spec
    const starting =
      state === 'Active' ? start(concurrencyPolicy, before, firings, schedule) : { ...before, cancel: [] }
    return {
      annotate: starting.cancel.flatMap(({ uid }) => cancelRequest(firings, uid)),
      status: statusOf(automation, { state, readiness, firings, schedule, starting }, context.now),
      ...(schedule.after !== undefined && { after: schedule.after }),
    }
  }
}

/** Firings for which Sessions will be made are kept from the beginning until these have settled. */
function withFinalizer(firings: readonly KubeObject[], automation: Seen, { read }: ReconcileContext): KubeObject[] {
  const finalizers = runsAgents(automation, read) ? [settleFinalizer] : []
  return firings.map((firing) => ({ ...firing, metadata: { ...firing.metadata, finalizers } }))
}

function readinessEntries(automation: Seen, { read }: ReconcileContext): ReadinessEntry[] {
  const { metadata, spec, status } = automation
  const graphManaged = controllerOf(automation)?.kind === automationGraph.kind
  const late = dateProblem(status?.schedule?.once)
  return [
    ...readinessOf({ namespace: metadata.namespace ?? '', graphManaged, spec }, read),
    ...(late === undefined ? [] : [{ check: 'triggers', state: 'Failed' as const, message: late }]),
  ]
}

function specChangedAt({ metadata }: Seen, { read }: ReconcileContext): Date | undefined {
  const time = read.specChangedAt(automationKind, keyOf(metadata))
  return time === undefined ? undefined : new Date(time)
}

/** Firings that the status lists and that have not settled. */
function listed({ status }: Seen, firings: readonly Firing[]): Pick<Starting, 'active' | 'pending'> {
  const unsettled = new Set(firings.filter(isUnderWay).map(({ metadata }) => metadata.uid))
  return {
    active: (status?.active ?? []).filter(({ uid }) => unsettled.has(uid)).map((one) => ({ ...one })),
    pending: (status?.pending ?? []).filter(({ uid }) => unsettled.has(uid)).map((one) => ({ ...one })),
  }
}

/** Who starts, of those that are listed and those that are new. */
function start(
  policy: AutomationSpec['concurrencyPolicy'] | undefined,
  { active, pending }: Pick<Starting, 'active' | 'pending'>,
  firings: readonly Firing[],
  schedule: ScheduleDecision,
): Starting {
  const known = new Set([...active, ...pending].map(({ uid }) => uid))
  const isNew = (firing: Firing) => isUnderWay(firing) && !known.has(firing.metadata.uid ?? '')
  const byHand = firings.filter((firing) => firing.spec.trigger !== 'schedule' && isNew(firing)).sort(byAge)
  // What the watermark covers must be listed now; what people made can wait until there is room.
  const room = Math.max(0, maxPendingFirings / 2 - pending.length)
  const arrived = [...schedule.covered.filter(isNew), ...byHand.slice(0, room)].map(({ metadata }) => ({
    name: metadata.name,
    uid: metadata.uid ?? '',
  }))
  return startFirings({ policy, active, pending, arrived })
}

/** One that is deleted never settles: it holds no place, though a finalizer of somebody else may keep it for long. */
function isUnderWay(firing: Firing): boolean {
  return !isSettledFiring(firing) && firing.metadata.deletionTimestamp === undefined
}

function byAge(a: Firing, b: Firing): number {
  const [left, right] = [a, b].map(({ metadata }) => `${metadata.creationTimestamp} ${metadata.name}`)
  return (left ?? '') < (right ?? '') ? -1 : 1
}

/** Asks a firing to end. Its own reconciler does it; who asked first is who is told of. */
function cancelRequest(firings: readonly Firing[], uid: string): Annotated[] {
  const firing = firings.find(({ metadata }) => metadata.uid === uid)
  if (firing === undefined || firing.metadata.annotations?.[annotations.cancelRequested] !== undefined) return []
  return [{ ref: refOf(firing), annotations: { [annotations.cancelRequested]: replaced } }]
}

const replaced = 'a newer firing takes its place, by the concurrencyPolicy Replace'

interface Findings {
  readonly state: AutomationState
  readonly readiness: ReadinessEntry[]
  readonly firings: readonly Firing[]
  readonly schedule: ScheduleDecision
  readonly starting: Starting
}

function statusOf(automation: Seen, findings: Findings, now: Date): AutomationStatus {
  const { metadata, spec, status } = automation
  const { state, readiness, firings, schedule, starting } = findings
  const last = lastSettled(firings, status?.last)
  return {
    observedGeneration: metadata.generation,
    state,
    trigger: describeTriggers(spec.triggers),
    next: describeNext(spec.triggers, schedule, state),
    readiness,
    active: starting.active,
    ...(starting.pending.length > 0 && { pending: starting.pending }),
    ...(schedule.status !== undefined && { schedule: schedule.status }),
    ...(last !== undefined && { last: { ...last } }),
    conditions: setCondition(status?.conditions, readyCondition(readiness), metadata.generation ?? 0, now),
  }
}

/** The `Next` column. */
function describeNext(
  triggers: Seen['spec']['triggers'],
  { status }: ScheduleDecision,
  state: AutomationState,
): string {
  if (status === undefined) return 'when fired by hand'
  if (triggers.some(({ kind }) => kind === 'schedule_once')) return describePending(status.once, state !== 'Active')
  if (state === 'Paused') return 'paused'
  if (state === 'NotReady') return 'not ready'
  return status.next ?? noPendingOccurrence
}

function readyCondition(readiness: readonly ReadinessEntry[]): ConditionInput {
  if (readiness.length === 0) return { type: 'Ready', status: 'True', reason: 'Ready', message: 'Every check passed.' }
  const message = readiness.map((entry) => entry.message).join(' ')
  return { type: 'Ready', status: 'False', reason: 'NotReady', message }
}

/** The firing that settled last, those that are pruned by now included. */
function lastSettled(firings: readonly Firing[], before: DeepReadonly<AutomationStatus['last']>) {
  let last = before
  for (const { metadata, status } of firings) {
    if (status?.settledAt === undefined || status.phase === undefined) continue
    if (last !== undefined && last.time >= status.settledAt) continue
    last = { firing: metadata.name, result: status.phase, time: status.settledAt }
  }
  return last
}
