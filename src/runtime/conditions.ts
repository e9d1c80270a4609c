import type { Condition } from '../lib/object.ts'
import { compareText, shortenToBytes } from '../lib/text.ts'
import { secondsTime } from '../lib/time.ts'

/** A condition as its author states it; the rest follows from the list it is put into. */
export interface ConditionInput {
  readonly type: string
  readonly status: Condition['status']
  /** CamelCase and stable. */
  readonly reason: string
  /** For people: names the next action, and carries no times, counts, ids or generated names (they would loop). */
  readonly message: string
}

/** Why an object is not ready, for tools that know `Reconciling` and `Stalled` (kstatus). */
export type Cause = Pick<ConditionInput, 'reason' | 'message'>

type Conditions = readonly Readonly<Condition>[] | undefined

const messageBytes = 1024

/**
 * The list with this condition in it. `lastTransitionTime` moves only when the status changes (API conventions); times
 * have a precision of seconds; `Ready` and `Succeeded` come first; a message is cut to 1 KiB.
 */
export function setCondition(list: Conditions, input: ConditionInput, generation: number, now: Date): Condition[] {
  const before = conditionOf(list, input.type)
  const condition: Condition = {
    type: input.type,
    status: input.status,
    reason: input.reason,
    message: shortenToBytes(input.message, messageBytes),
    lastTransitionTime: before?.status === input.status ? before.lastTransitionTime : secondsTime(now),
    observedGeneration: generation,
  }
  return sortConditions([...withoutCondition(list, input.type), condition])
}

/** The condition of this type. */
export function conditionOf(list: Conditions, type: string): Readonly<Condition> | undefined {
  return list?.find((condition) => condition.type === type)
}

/** True when the condition is there and holds. */
export function isTrue(list: Conditions, type: string): boolean {
  return conditionOf(list, type)?.status === 'True'
}

/** The list without the condition of this type. */
export function withoutCondition(list: Conditions, type: string): Condition[] {
  return (list ?? []).filter((condition) => condition.type !== type)
}

/** Says that only a change of the spec helps: `Stalled`, and not `Reconciling`. */
export function withStalled(list: Conditions, cause: Cause, generation: number, now: Date): Condition[] {
  const rest = withoutCondition(list, 'Reconciling')
  return setCondition(rest, { type: 'Stalled', status: 'True', ...cause }, generation, now)
}

/** Says that the work goes on: `Reconciling`, and not `Stalled`. */
export function withReconciling(list: Conditions, cause: Cause, generation: number, now: Date): Condition[] {
  const rest = withoutCondition(list, 'Stalled')
  return setCondition(rest, { type: 'Reconciling', status: 'True', ...cause }, generation, now)
}

/** Takes `Reconciling` and `Stalled` away: they are present only while true. */
export function withoutCause(list: Conditions): Condition[] {
  return withoutCondition(withoutCondition(list, 'Reconciling'), 'Stalled')
}

/**
 * What is written of a list that a reconciler made: conditions that did not change their status keep the time they had
 * in `before`, whatever the reconciler put there; a `Reconciling` or `Stalled` left from an earlier pass goes unless it
 * still gives the reason of the `ready` condition.
 */
export function settleConditions(before: Conditions, after: Conditions, ready: string): Condition[] {
  const summary = conditionOf(after, ready)
  const kept = (after ?? []).filter((condition) => {
    if (condition.type !== 'Reconciling' && condition.type !== 'Stalled') return true
    return summary?.status !== 'True' && summary?.reason === condition.reason
  })
  const carried = kept.map((condition) => {
    const earlier = conditionOf(before, condition.type)
    if (earlier?.status !== condition.status) return condition
    return { ...condition, lastTransitionTime: earlier.lastTransitionTime }
  })
  return sortConditions(carried)
}

function sortConditions(list: readonly Condition[]): Condition[] {
  return [...list].sort((a, b) => rank(a) - rank(b) || compareText(a.type, b.type))
}

function rank(condition: Condition): number {
  return condition.type === 'Ready' || condition.type === 'Succeeded' ? 0 : 1
}
