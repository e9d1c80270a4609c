import { type AutomationFiring, type StepOutcome, settledFiringPhases } from '../api/automation-firing.ts'
import type { Content } from '../api/fields.ts'
import { formatSpan } from '../lib/duration.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { compareText } from '../lib/text.ts'
import { type OrderedFiring, placeOf } from './step-order.ts'
import { fields, table } from './table.ts'

type Firing = DeepReadonly<AutomationFiring>

/** A recorded outcome under the id of its step. */
export type StepReceipt = { readonly id: string } & DeepReadonly<StepOutcome>

/** State of the program of a firing (A-543). */
export interface ProgramReceipt {
  /** settled: nothing of it will change any more. */
  readonly state: 'pending' | 'settled'
  /** null while pending, even where a branch has failed already (A-337, A-544). */
  readonly result: 'completed' | 'failed' | 'cancelled' | null
  /** Outcomes recorded so far in the order of the program, else in that in which they started. */
  readonly steps: readonly StepReceipt[]
}

const results = { Succeeded: 'completed', Failed: 'failed', Cancelled: 'cancelled' } as const

/** True once nothing of the firing will change any more. */
export function isSettled({ status }: Firing): boolean {
  return status?.phase !== undefined && settledFiringPhases.includes(status.phase)
}

export function programReceipt({ firing, order }: OrderedFiring): ProgramReceipt {
  const { phase, result, steps = {} } = firing.status ?? {}
  const outcomes = Object.entries(steps)
    .map(([id, outcome]): StepReceipt => ({ id, ...outcome }))
    .sort(
      (a, b) =>
        placeOf(a.id, order) - placeOf(b.id, order) || compareText(startOf(a), startOf(b)) || compareText(a.id, b.id),
    )
  if (!isSettled(firing)) return { state: 'pending', result: null, steps: outcomes }
  const derived = phase !== undefined && phase in results ? results[phase as keyof typeof results] : null
  return { state: 'settled', result: result ?? derived, steps: outcomes }
}

function startOf({ startedAt, settledAt }: StepReceipt): string {
  return startedAt ?? settledAt ?? '~'
}

/** What every command says of a firing as data. */
export function firingHead({ metadata, spec, status }: Firing): object {
  return {
    firing: metadata.name,
    namespace: metadata.namespace,
    uid: metadata.uid,
    automation: spec.automation.name,
    trigger: spec.trigger,
    entry: status?.admission?.entry ?? spec.entry ?? null,
    requestedBy: spec.requestedBy,
    createdAt: metadata.creationTimestamp,
    startedAt: status?.startedAt ?? null,
    settledAt: status?.settledAt ?? null,
    phase: status?.phase ?? 'Pending',
    reason: status?.reason ?? null,
    message: status?.message ?? null,
    output: status?.output ?? null,
  }
}

/** A firing as data: what `run` and `runs` print. */
export function firingData(ordered: OrderedFiring): object {
  return { ...firingHead(ordered.firing), program: programReceipt(ordered) }
}

/** How a firing stands, for people. */
export function renderFiring(ordered: OrderedFiring): string {
  const { metadata, spec, status } = ordered.firing
  const { result, steps } = programReceipt(ordered)
  const head = fields([
    ['Firing', metadata.name],
    ['Automation', spec.automation.name],
    ['Phase', `${status?.phase ?? 'Pending'}${status?.reason === undefined ? '' : ` (${status.reason})`}`],
    ['Message', status?.message],
    ['Result', result ?? 'pending'],
    ['Duration', status?.duration],
  ])
  return steps.length === 0 ? head : `${head}\n\n${renderSteps(steps, status?.message)}`
}

/**
 * The recorded outcomes as a table; unknown reason codes stand as they are (A-532). A message that `above` has said is
 * not said again.
 */
export function renderSteps(steps: readonly StepReceipt[], above = ''): string {
  const rows = steps.map((step) => [
    step.id,
    step.kind,
    step.arm ?? step.reason,
    step.attempt === undefined ? undefined : String(step.attempt + 1),
    step.startedAt !== undefined && step.settledAt !== undefined
      ? formatSpan(step.startedAt, step.settledAt)
      : undefined,
    step.session,
  ])
  const messages = steps.flatMap(({ id, message }) =>
    message === undefined || above.includes(message) ? [] : [`${id}: ${message}`],
  )
  const shown = table(['STEP', 'OUTCOME', 'ARM OR REASON', 'ATTEMPT', 'DURATION', 'SESSION'], rows)
  return messages.length === 0 ? shown : `${shown}\n\n${messages.join('\n')}`
}

/** An output: itself where it is small, else its name and size. */
export function renderOutput(output: DeepReadonly<Content> | undefined): string {
  if (output === undefined) return ''
  if (output.inline !== undefined) return `Output (${output.size} bytes):\n${output.inline}`
  return `Output: ${output.size} bytes, kept as ${output.digest}; there is no way to read it from here yet`
}
