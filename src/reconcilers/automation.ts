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
import type { Pause } from '../api/pause.ts'
import { type KubeObject, keyOf, refOf } from '../lib/object.ts'
import { controllerOf } from '../lib/owner-references.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { shorten } from '../lib/text.ts'
import { type ConditionInput, setCondition } from '../runtime/conditions.ts'
import type { Reconcile, ReconcileContext } from '../runtime/controller.ts'
import type { Notices } from '../runtime/notices.ts'
import type { Annotated } from '../runtime/result.ts'
import { describeTriggers } from '../schedule/describe.ts'
import { dateProblem, describePending, noPendingOccurrence } from '../schedule/once.ts'
import { firingsOf } from './automation/firings.ts'
import { type Gate, gateOf, letThrough } from './automation/gate.ts'
import { tell } from './automation/notice.ts'
import { judgePause, type Pausing } from './automation/pausing.ts'
import { decideProbe } from './automation/probe.ts'
import { readinessOf } from './automation/readiness.ts'
import { type AutomationState, decideSchedule, type ScheduleDecision } from './automation/schedule.ts'
import { isCredible, withSoundStatus } from './automation/sound.ts'
import { crowdedPending, type Starting, startFirings } from './automation/starting.ts'
import { runsAgents } from './automation-firing/claim.ts'
import { isSettledFiring } from './automation-firing/phase.ts'

type Seen = DeepReadonly<Automation>
type Firing = DeepReadonly<AutomationFiring>

/**
 * Projects readiness, makes the firings of the schedule, and starts firings. Moving a firing into `active[]` is what
 * starts it: the write is a compare-and-set on this object, so that two managers cannot both decide.
 * @param requester user name of this manager, in whose name scheduled firings are made
 * @param notices where pauses are told of, if anywhere
 */
export function createAutomationReconciler(
  requester: string,
  notices?: Notices,
): Reconcile<Automation, AutomationStatus> {
  return async (seen, context) => {
    const { now, read } = context
    const automation = withSoundStatus(seen, now)
    const firings = await firingsOf(automation, context)
    const readiness = readinessEntries(automation, context)
    const judged = judgePause({ automation, firings, readiness, read, now })
    const told = tell(automation, judged.pause, notices)
    const pausing = { ...judged, pause: told.pause }
    const state = stateOf(automation, readiness, pausing.pause)
    const gate = gateOf(automation, readiness, pausing.pause, firings, now)
    const before = listed(automation, firings)
    const input = {
      automation,
      state,
      // What a clock made that was years ahead would take the schedule along.
      firings: firings.filter(({ spec }) => spec.trigger === 'schedule' && isCredible(spec.occurrence ?? '', now)),
      specChangedAt: specChangedAt(automation, context),
      liftedAt: pausing.liftedAt === undefined ? undefined : new Date(pausing.liftedAt),
      isCrowded: before.pending.length >= crowdedPending,
      requester,
      now,
    }
    const schedule = gate.kind === 'probing' ? decideProbe({ ...input, ...gate }) : decideSchedule(input)
    const { create, counts } = schedule
    if (create.length > 0) return { create: withFinalizer(create, automation, context), counts }
    const starting = start(automation.spec.concurrencyPolicy, gate, before, firings, schedule)
    // Once its time has come, the probe waits for an occurrence and not for the clock.
    const probe = gate.kind === 'probing' && !gate.isDue ? gate.probeAt.getTime() - now.getTime() : undefined
    const after = earliest(schedule.after, told.after, probe)
    return {
      annotate: starting.cancel.flatMap(({ uid }) => cancelRequest(firings, uid)),
      status: statusOf(automation, { state, readiness, pausing, firings, schedule, starting }, now),
      events: pausing.events,
      counts: [...pausing.counts, ...counts],
      ...(after !== undefined && { after }),
    }
  }
}

/** A pause comes first: it stays when the checks pass again. */
function stateOf({ spec }: Seen, readiness: readonly ReadinessEntry[], pause: Pause | undefined): AutomationState {
  if (spec.paused === true || pause !== undefined) return 'Paused'
  return readiness.length > 0 ? 'NotReady' : 'Active'
}

/** The shortest of some waits, milliseconds. */
function earliest(...waits: readonly (number | undefined)[]): number | undefined {
  const known = waits.filter((wait) => wait !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
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

/** Undefined where it was never changed. Whoever takes managedFields away hides when: then it is taken to be now. */
function specChangedAt({ metadata, status }: Seen, { read, now }: ReconcileContext): Date | undefined {
  const time = read.specChangedAt(automationKind, keyOf(metadata))
  if (time !== undefined) return new Date(time)
  return status?.schedule === undefined ? undefined : now
}

/** Firings that the status lists and that have not settled. */
function listed({ status }: Seen, firings: readonly Firing[]): Pick<Starting, 'active' | 'pending'> {
  const unsettled = new Set(firings.filter(isUnderWay).map(({ metadata }) => metadata.uid))
  return {
    active: (status?.active ?? []).filter(({ uid }) => unsettled.has(uid)).map((one) => ({ ...one })),
    pending: (status?.pending ?? []).filter(({ uid }) => unsettled.has(uid)).map((one) => ({ ...one })),
  }
}

/** Who starts, of those that are listed and those that are new, as far as the gate is open for them. */
function start(
  policy: AutomationSpec['concurrencyPolicy'] | undefined,
  gate: Gate,
  { active, pending }: Pick<Starting, 'active' | 'pending'>,
  firings: readonly Firing[],
  schedule: ScheduleDecision,
): Starting {
  if (gate.kind === 'closed') return { active, pending, cancel: [] }
  const known = new Set([...active, ...pending].map(({ uid }) => uid))
  const isNew = (firing: Firing) => isUnderWay(firing) && !known.has(firing.metadata.uid ?? '')
  const others = firings.filter((firing) => firing.spec.trigger !== 'schedule' && isNew(firing)).sort(byAge)
  // What the watermark covers must be listed now; what people made can wait until there is room.
  const room = Math.max(0, maxPendingFirings / 2 - pending.length)
  const arrived = [...schedule.covered.filter(isNew), ...others.slice(0, room)].map(({ metadata }) => ({
    name: metadata.name,
    uid: metadata.uid ?? '',
  }))
  const covered = new Set(schedule.covered.map(({ metadata }) => metadata.uid))
  const byHand = new Set(firings.filter(({ spec }) => spec.trigger === 'manual').map(({ metadata }) => metadata.uid))
  const { passed, held } = letThrough(gate, { pending, arrived }, (uid) => byHand.has(uid))
  const starting = startFirings({ policy, active, ...passed })
  const kept = held.arrived.filter(({ uid }) => covered.has(uid))
  return { ...starting, pending: [...held.pending, ...kept, ...starting.pending] }
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
  readonly pausing: Pausing
  readonly firings: readonly Firing[]
  readonly schedule: ScheduleDecision
  readonly starting: Starting
}

function statusOf(automation: Seen, findings: Findings, now: Date): AutomationStatus {
  const { metadata, spec, status } = automation
  const { state, readiness, pausing, firings, schedule, starting } = findings
  const { failures, pause } = pausing
  const reason = reasonOf(automation, state, pause)
  const last = lastSettled(firings, status?.last)
  return {
    observedGeneration: metadata.generation,
    state,
    ...(reason !== undefined && { reason }),
    ...(pause !== undefined && { pause }),
    ...(Object.keys(failures).length > 0 && { failures }),
    trigger: shorten(describeTriggers(spec.triggers), triggerLimit),
    next: describeNext(spec.triggers, schedule, state, pause?.nextProbe !== undefined && spec.paused !== true),
    readiness,
    active: starting.active,
    ...(starting.pending.length > 0 && { pending: starting.pending }),
    ...(schedule.status !== undefined && { schedule: schedule.status }),
    ...(last !== undefined && { last: { ...last } }),
    conditions: setCondition(status?.conditions, readyCondition(readiness), metadata.generation ?? 0, now),
  }
}

/** The `Reason` column. A person's pause is told before the Automation's own. */
function reasonOf({ spec }: Seen, state: AutomationState, pause: Pause | undefined): string | undefined {
  if (spec.paused === true) return 'ByHand'
  return pause?.reason ?? (state === 'NotReady' ? 'NotReady' : undefined)
}

/** Characters of the `Trigger` column: three triggers of one kind, which are refused, may be longer. */
const triggerLimit = 512

/** The `Next` column. */
function describeNext(
  triggers: Seen['spec']['triggers'],
  { status }: ScheduleDecision,
  state: AutomationState,
  isProbing: boolean,
): string {
  if (status === undefined) return 'when fired by hand'
  if (triggers.some(({ kind }) => kind === 'schedule_once')) return describePending(status.once, state !== 'Active')
  if (isProbing && status.next !== undefined) return `${status.next} (probe)`
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
