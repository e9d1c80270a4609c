import type { AutomationFiringStatus, StepOutcome } from '../../api/automation-firing.ts'
import { isTerminal, settled } from '../../program/outcomes.ts'
import type { StepReason } from '../../program/reasons.ts'
import type { Firing } from './checks.ts'
import { firingStatus } from './status.ts'

/** A firing of which nothing has moved for longer than this is stuck (N-175). No step may take longer than a day. */
const abandonedMillis = 25 * 3_600_000

/** How many are closed in a minute (N-177): after a long downtime a backlog must not be written at once. */
const batchSize = 50
const batchMillis = 60_000

/**
 * Milliseconds until an admitted firing counts as stuck, counted from the last thing that began or ended in it; negative
 * once it does.
 */
export function millisToAbandonment({ status }: Firing, now: Date): number {
  const steps = Object.values(status?.steps ?? {})
  const times = [status?.admission?.admittedAt, ...steps.flatMap(({ startedAt, settledAt }) => [startedAt, settledAt])]
  const moved = times.filter((time) => time !== undefined).map((time) => Date.parse(time))
  return Math.max(...moved) + abandonedMillis - now.getTime()
}

/** How many stuck firings may be closed now. One for each process. */
export class AbandonedBatch {
  #tick = 0
  #closed = 0

  /** Milliseconds until the caller may close a firing; 0 where it may do so now, and then counts as having done so. */
  take(now: Date): number {
    const tick = Math.floor(now.getTime() / batchMillis)
    if (tick !== this.#tick) {
      this.#tick = tick
      this.#closed = 0
    }
    if (this.#closed >= batchSize) return (tick + 1) * batchMillis - now.getTime()
    this.#closed++
    return 0
  }
}

const code: StepReason = 'automation_run_abandoned'

/** The end of a stuck firing. What is known of its steps stays; those under way may have done their work or not. */
export function abandonedStatus(firing: Firing, now: Date): AutomationFiringStatus {
  const message =
    'Nothing of it has moved for more than 25 hours. What was under way may have been done or not: look before you fire again.'
  const steps = Object.entries(firing.status?.steps ?? {}).map(([id, outcome]): [string, StepOutcome] => {
    if (isTerminal(outcome)) return [id, structuredClone(outcome) as StepOutcome]
    return [id, settled(outcome, { kind: 'failed', reason: code, message }, now)]
  })
  const stuck = Object.entries(firing.status?.steps ?? {}).flatMap(([id, outcome]) => (isTerminal(outcome) ? [] : [id]))
  const news = {
    phase: 'Failed',
    reason: 'Interrupted',
    result: 'failed',
    message,
    step: stuck.join(', ').slice(0, 256),
  } as const
  return firingStatus(firing, { ...news, steps: Object.fromEntries(steps) }, now)
}
