import type { Admission, AutomationFiringStatus, FiringPhase } from '../../api/automation-firing.ts'
import type { Content } from '../../api/fields.ts'
import { formatSpan } from '../../lib/duration.ts'
import type { Condition } from '../../lib/object.ts'
import { cutMessage } from '../../program/outcomes.ts'
import { conditionOf, setCondition } from '../../runtime/conditions.ts'
import type { Firing } from './checks.ts'
import { isSettledFiring, isSettledPhase } from './phase.ts'

/** What a pass found out about a firing. What it leaves out of admission and steps stays as recorded. */
export interface FiringNews {
  readonly phase: FiringPhase
  readonly reason?: string | undefined
  readonly message?: string | undefined
  readonly step?: string | undefined
  readonly admission?: Admission | undefined
  readonly steps?: AutomationFiringStatus['steps']
  readonly result?: AutomationFiringStatus['result']
  readonly output?: Content | undefined
}

/** The whole status of a firing: what was recorded before stays, what columns show is told anew. */
export function firingStatus(firing: Firing, news: FiringNews, now: Date): AutomationFiringStatus {
  const before = structuredClone(firing.status ?? {}) as AutomationFiringStatus
  const { phase, reason, message, step, result, output } = news
  const admission = news.admission ?? before.admission
  const steps = news.steps ?? before.steps
  return {
    phase,
    ...(reason !== undefined && { reason: reason.slice(0, 128) }),
    ...(message !== undefined && { message: cutMessage(message) }),
    ...(step !== undefined && step !== '' && { step }),
    ...(admission !== undefined && { admission, startedAt: admission.admittedAt }),
    ...(steps !== undefined && { steps }),
    ...(result !== undefined && { result }),
    ...(output !== undefined && { output }),
    ...(isSettledPhase(phase) && ending(admission?.admittedAt, now)),
    conditions: setCondition(before.conditions, verdict(news), firing.metadata.generation ?? 0, now),
  }
}

function ending(startedAt: string | undefined, now: Date): Pick<AutomationFiringStatus, 'settledAt' | 'duration'> {
  const settledAt = now.toISOString()
  return { settledAt, ...(startedAt !== undefined && { duration: formatSpan(startedAt, settledAt) }) }
}

function verdict({ phase, reason, message }: FiringNews): Pick<Condition, 'type' | 'status' | 'reason' | 'message'> {
  const status = phase === 'Succeeded' ? 'True' : isSettledPhase(phase) ? 'False' : 'Unknown'
  return { type: 'Succeeded', status, reason: reason ?? phase, message: message ?? told[phase] }
}

const told: Readonly<Record<FiringPhase, string>> = {
  Pending: 'It was not started yet.',
  Running: 'Its steps are under way.',
  Waiting: 'It waits.',
  Succeeded: 'All its steps that were to run have completed.',
  Failed: 'It failed.',
  Cancelled: 'It was cancelled.',
  Skipped: 'It was skipped.',
}

/** What columns show of a firing whose pass failed: the runtime says it in the condition alone. */
export function summarizeFiring(status: AutomationFiringStatus): AutomationFiringStatus {
  const succeeded = conditionOf(status.conditions, 'Succeeded')
  if (succeeded === undefined || isSettledFiring({ status }) || succeeded.reason === status.reason) return status
  const { reason, message } = succeeded
  if (succeeded.status === 'False') {
    const settledAt = succeeded.lastTransitionTime
    return { ...status, phase: 'Failed', reason, message, result: status.result ?? 'failed', settledAt }
  }
  if (!conditionOf(status.conditions, 'Reconciling')) return status
  return { ...status, phase: status.admission === undefined ? 'Pending' : 'Waiting', reason, message }
}
