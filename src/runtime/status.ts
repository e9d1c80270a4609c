import { sameJson } from '../lib/json.ts'
import type { Condition } from '../lib/object.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { type Cause, conditionOf, setCondition, settleConditions, withReconciling, withStalled } from './conditions.ts'
import type { StatusBase } from './controller.ts'

/** What of a controller matters for the status of its objects. */
export interface StatusRules {
  readonly ready: 'Ready' | 'Succeeded'
  readonly foreignStatus?: readonly string[]
  readonly summarize?: (status: StatusBase) => StatusBase
}

/** An object, as far as its status depends on it. */
export interface StatusHolder {
  readonly metadata: { readonly generation?: number }
  readonly status?: DeepReadonly<StatusBase>
}

/**
 * The status to write after a successful pass: what the reconciler wants, with the generation it has seen and conditions
 * that keep their times. Undefined when the object has it already, the fields of other processes apart.
 */
export function statusToWrite(object: StatusHolder, wanted: StatusBase, rules: StatusRules): StatusBase | undefined {
  const status: StatusBase = { ...ownStatus(wanted, rules), observedGeneration: object.metadata.generation }
  if (wanted.conditions !== undefined) {
    status.conditions = settleConditions(object.status?.conditions, wanted.conditions, rules.ready)
  }
  return unlessShown(object, status, rules)
}

/** Why a pass failed, in the words of conditions. */
export interface Failure extends Cause {
  /** `stalled`: only a change of the spec helps. `waiting`: a dependency is missing. `retrying`: an error. */
  readonly kind: 'stalled' | 'waiting' | 'retrying'
}

/**
 * The status to write after a failed pass: everything stays, the `ready` condition and its cause apart. Undefined when
 * the object says so already, or has ended: a verdict is never taken back.
 */
export function statusOfFailure(
  object: StatusHolder,
  failure: Failure,
  rules: StatusRules,
  now: Date,
): StatusBase | undefined {
  const before = object.status?.conditions
  if (rules.ready === 'Succeeded' && hasEnded(before)) return undefined
  const generation = object.metadata.generation ?? 0
  const { reason, message } = failure
  const open = rules.ready === 'Succeeded' && failure.kind !== 'stalled'
  const ready = { type: rules.ready, status: open ? 'Unknown' : 'False', reason, message } as const
  const withCause = failure.kind === 'stalled' ? withStalled : withReconciling
  const conditions = withCause(setCondition(before, ready, generation, now), { reason, message }, generation, now)
  const status: StatusBase = { ...ownStatus(object.status ?? {}, rules), conditions }
  if (failure.kind !== 'retrying') status.observedGeneration = object.metadata.generation
  return unlessShown(object, status, rules)
}

function unlessShown(object: StatusHolder, status: StatusBase, rules: StatusRules): StatusBase | undefined {
  const summarized = rules.summarize?.(status) ?? status
  return sameJson(summarized, ownStatus(object.status ?? {}, rules)) ? undefined : summarized
}

/** True when the object already shows this failure for this generation. */
export function showsFailure(object: StatusHolder, failure: Failure, rules: StatusRules): boolean {
  const shown = conditionOf(object.status?.conditions, rules.ready)
  return shown?.reason === failure.reason && shown.observedGeneration === object.metadata.generation
}

function hasEnded(conditions: readonly Readonly<Condition>[] | undefined): boolean {
  const verdict = conditionOf(conditions, 'Succeeded')
  return verdict !== undefined && verdict.status !== 'Unknown'
}

/** A copy without the fields of other processes. */
function ownStatus(status: DeepReadonly<StatusBase>, rules: StatusRules): StatusBase {
  const own = Object.entries(status).filter(([field]) => rules.foreignStatus?.includes(field) !== true)
  return Object.fromEntries(own)
}
