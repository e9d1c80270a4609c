import type { Automation, AutomationTrigger, ScheduleStatus, SkippedOccurrences } from '../../api/automation.ts'
import type { AutomationFiring } from '../../api/automation-firing.ts'
import { digestJson } from '../../lib/digest.ts'
import type { KubeObject } from '../../lib/object.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'
import type { Count } from '../../runtime/result.ts'
import { parseCron, type Schedule } from '../../schedule/cron.ts'
import { baselineOf, type DueDecision, dueOccurrences } from '../../schedule/due.ts'
import { normaliseInstant } from '../../schedule/instant.ts'
import { consumeDate, dueOnce, observeDate } from '../../schedule/once.ts'
import { isSettledFiring } from '../automation-firing/phase.ts'
import { scheduledFiring, startCount } from './scheduled-firing.ts'
import { allBetween, recorded, skipCount, withSkipped } from './skipped.ts'

export type AutomationState = 'Active' | 'Paused' | 'NotReady'

type Firing = DeepReadonly<AutomationFiring>

export interface ScheduleInput {
  readonly automation: DeepReadonly<Automation>
  /** State as of this pass. */
  readonly state: AutomationState
  /** Firings of this very Automation that its schedule made. */
  readonly firings: readonly Firing[]
  /** When somebody last changed the spec, by its managedFields. */
  readonly specChangedAt: Date | undefined
  /** When a pause that the Automation had made itself ended, as far as that is news. */
  readonly liftedAt?: Date | undefined
  /** So many firings wait that no more fit: nothing is decided until some have settled. */
  readonly isCrowded: boolean
  /** Who the firings are requested by: the manager. */
  readonly requester: string
  readonly now: Date
}

export interface ScheduleDecision {
  /** Firings to be made. While there is one, nothing is recorded: creating comes first, the watermark after. */
  readonly create: readonly KubeObject[]
  /** What is to be recorded; absent where the Automation has no schedule. */
  readonly status: ScheduleStatus | undefined
  /** Firings that the recorded watermark covers now and that stand in no list yet, oldest first. */
  readonly covered: readonly Firing[]
  /** Milliseconds until the schedule has to be looked at again; absent: only a change brings something new. */
  readonly after: number | undefined
  /** What the metrics are told once this is done. */
  readonly counts: readonly Count[]
}

export const nothing: ScheduleDecision = { create: [], status: undefined, covered: [], after: undefined, counts: [] }

/** What the schedule of an Automation asks for. Pure: the same input, the same firings, whoever asks and how often. */
export function decideSchedule(input: ScheduleInput): ScheduleDecision {
  const trigger = input.automation.spec.triggers.find(({ kind }) => kind === 'schedule' || kind === 'schedule_once')
  if (trigger === undefined) return nothing
  return trigger.kind === 'schedule'
    ? decideRecurring(input, trigger)
    : decideOnce(input, trigger, input.state === 'Active')
}

export type Trigger = DeepReadonly<AutomationTrigger>

/** What is kept of the schedule whatever is due: when it last changed and was last resumed. */
export function observe(input: ScheduleInput, trigger: Trigger): ScheduleStatus {
  const { automation, state, now, specChangedAt, liftedAt } = input
  const previous = automation.status?.schedule
  const { id: _, ...identity } = trigger
  const digest = digestJson(identity)
  const changed = specChangedAt ?? new Date(automation.metadata.creationTimestamp ?? now)
  const isSame = previous?.digest === digest
  const before = automation.status?.state
  const isResumed = state === 'Active' && before !== undefined && before !== 'Active'
  // Unpausing changes the spec, and is timestamped even if no manager ran; becoming ready is only seen.
  const isUnpaused = before === 'Paused' && automation.spec.paused === false
  const ended = liftedAt ?? (isUnpaused ? specChangedAt : undefined) ?? now
  const resumedAt = isResumed ? ended.toISOString() : previous?.resumedAt
  return {
    digest,
    changedAt: isSame ? previous.changedAt : changed.toISOString(),
    ...(resumedAt !== undefined && { resumedAt }),
    ...(previous?.watermark !== undefined && { watermark: previous.watermark }),
    ...(isSame && previous.next !== undefined && { next: previous.next }),
    ...(previous?.once !== undefined && { once: { ...previous.once } as NonNullable<ScheduleStatus['once']> }),
    ...(previous?.skipped !== undefined && { skipped: previous.skipped.map((one) => ({ ...one })) }),
  }
}

function decideRecurring(input: ScheduleInput, trigger: Trigger): ScheduleDecision {
  const { automation, state, firings, now } = input
  const { next, ...observed } = observe(input, trigger)
  const parsed = parseCron(trigger.cron ?? '', trigger.timezone ?? '')
  if (state !== 'Active' || !parsed.ok) return { ...nothing, status: observed }
  const uncovered = uncoveredFirings(automation, firings, observed.watermark)
  const isSame = observed.resumedAt === automation.status?.schedule?.resumedAt
  // Another jitter moves the next start, though the schedule is the same.
  const isIdle = isSame && uncovered.length === 0 && isObserved(automation)
  // A firing that settles looks again.
  if (isSame && input.isCrowded) return { ...nothing, status: { ...observed, ...(next !== undefined && { next }) } }
  if (isIdle && next !== undefined && Date.parse(next) > now.getTime()) {
    return { ...nothing, status: { ...observed, next }, after: Date.parse(next) - now.getTime() }
  }
  const baseline = baselineFor(automation, observed)
  const due = dueOccurrences({
    schedule: parsed.schedule,
    ...baseline,
    missed: automation.spec.missedOccurrences,
    jitterSeconds: automation.spec.jitterSeconds ?? 0,
    identity: automation.metadata.uid ?? '',
    now,
  })
  const missing = missingFirings(input, trigger, due)
  if (missing.create.length > 0) return { ...nothing, ...missing }
  const away = skippedWhileAway(input, observed, parsed.schedule)
  const skipped = withoutMade([...away, ...due.skipped.map(recorded)], uncovered)
  const watermark = newest(due.watermark, ...uncovered.map(occurrenceOf))
  const nextStart = due.nextStartAt
  return {
    create: [],
    covered: uncovered.filter((firing) => !isSettledFiring(firing)),
    status: {
      ...observed,
      ...(watermark !== undefined && { watermark: watermark.toISOString() }),
      ...(nextStart !== undefined && { next: nextStart.toISOString() }),
      ...withSkipped(observed.skipped, skipped),
    },
    after: nextStart === undefined ? undefined : Math.max(0, nextStart.getTime() - now.getTime()),
    counts: skipped.map(skipCount),
  }
}

/** The firings of due occurrences that are not there yet, and how late they are. */
export function missingFirings(
  { automation, firings, requester, now }: ScheduleInput,
  trigger: Trigger,
  { fire }: Pick<DueDecision, 'fire'>,
): Pick<ScheduleDecision, 'create' | 'counts'> {
  const existing = new Set(firings.map(({ metadata }) => metadata.name))
  const missing = fire
    .map(({ occurrence, startAt }) => ({
      firing: scheduledFiring(automation, trigger.id, occurrence, requester),
      count: startCount(startAt, now),
    }))
    .filter(({ firing }) => !existing.has(firing.metadata.name))
  return { create: missing.map(({ firing }) => firing), counts: missing.map(({ count }) => count) }
}

function isObserved({ metadata, status }: DeepReadonly<Automation>): boolean {
  return status?.observedGeneration === metadata.generation
}

export function baselineFor(
  { metadata }: DeepReadonly<Automation>,
  { watermark, resumedAt, changedAt }: ScheduleStatus,
) {
  return {
    watermark: watermark === undefined ? undefined : new Date(watermark),
    baseline: {
      createdAt: new Date(metadata.creationTimestamp ?? 0),
      resumedAt: resumedAt === undefined ? undefined : new Date(resumedAt),
      scheduleChangedAt: new Date(changedAt),
    },
  }
}

/** Firings after the watermark: made before a crash, or by another manager. They are decided by having been made. */
export function uncoveredFirings(
  { status }: DeepReadonly<Automation>,
  firings: readonly Firing[],
  watermark: string | undefined,
): Firing[] {
  const listed = new Set([...(status?.active ?? []), ...(status?.pending ?? [])].map(({ uid }) => uid))
  return firings
    .filter((firing) => watermark === undefined || occurrenceOf(firing) > new Date(watermark))
    .filter(({ metadata }) => !listed.has(metadata.uid ?? ''))
    .sort((a, b) => occurrenceOf(a).getTime() - occurrenceOf(b).getTime())
}

export function occurrenceOf({ spec }: Firing): Date {
  return new Date(spec.occurrence ?? 0)
}

export function newest(...instants: readonly (Date | undefined)[]): Date | undefined {
  const times = instants.filter((instant) => instant !== undefined).map((instant) => instant.getTime())
  return times.length === 0 ? undefined : new Date(Math.max(...times))
}

/** What was due while the Automation was paused or not ready, once it is active again. */
function skippedWhileAway(
  { automation }: ScheduleInput,
  observed: ScheduleStatus,
  schedule: Schedule,
): SkippedOccurrences[] {
  const previous = automation.status?.schedule
  const reason = automation.status?.state
  if (observed.resumedAt === undefined || observed.resumedAt === previous?.resumedAt) return []
  if (reason === undefined || reason === 'Active') return []
  const { resumedAt: _, ...before } = observed
  const base = baselineOf(
    baselineFor(automation, { ...before, ...(previous?.resumedAt && { resumedAt: previous.resumedAt }) }),
  )
  return allBetween(schedule, base, new Date(observed.resumedAt), reason)
}

/** A firing that was made before the minute turned is not superseded by the next one: it starts as well. */
export function withoutMade(skipped: readonly SkippedOccurrences[], made: readonly Firing[]): SkippedOccurrences[] {
  return skipped.flatMap((one) => {
    const inside = made.filter(
      (firing) => occurrenceOf(firing) >= new Date(one.first) && occurrenceOf(firing) <= new Date(one.last),
    )
    const count = one.count - inside.length
    return count > 0 ? [{ ...one, count }] : []
  })
}

/** @param mayStart false where what is due waits */
export function decideOnce(input: ScheduleInput, trigger: Trigger, mayStart: boolean): ScheduleDecision {
  const { automation, firings, now, specChangedAt } = input
  const { next: _, once: __, ...observed } = observe(input, trigger)
  const created = new Date(automation.metadata.creationTimestamp ?? 0)
  const chosenAt = newest(created, specChangedAt) ?? created
  const seen = observeDate(automation.status?.schedule?.once, trigger.at ?? '', chosenAt)
  if (seen === undefined) return { ...nothing, status: observed }
  const once = firings.reduce((date, firing) => consumeDate(date, receiptOf(automation, firing)), seen)
  const status: ScheduleStatus = {
    ...observed,
    ...(once.phase === 'Pending' && { next: once.at }),
    once: { at: once.at, phase: once.phase, ...(once.consumed !== undefined && { consumed: { ...once.consumed } }) },
  }
  if (once.phase !== 'Pending' || !mayStart) return { ...nothing, status }
  const due = dueOnce(once, now, false)
  if (due === undefined) return { ...nothing, status, after: Math.max(0, Date.parse(once.at) - now.getTime()) }
  const wanted = scheduledFiring(automation, trigger.id, due.occurrence, input.requester)
  const made = firings.find(({ metadata }) => metadata.name === wanted.metadata.name)
  if (made === undefined) return { ...nothing, create: [wanted], counts: [startCount(due.occurrence, now)] }
  const covered = uncoveredFirings(automation, [made], undefined).filter((firing) => !isSettledFiring(firing))
  return { ...nothing, status, covered }
}

function receiptOf({ spec }: DeepReadonly<Automation>, firing: Firing) {
  const occurrence = normaliseInstant(firing.spec.occurrence ?? '') ?? ''
  return {
    occurrence,
    firing: firing.metadata.name,
    target: spec.target.agent === undefined ? ('program' as const) : ('agent' as const),
    sessionLaunched: Object.values(firing.status?.steps ?? {}).some(({ session }) => session !== undefined),
    settled: isSettledFiring(firing),
  }
}
