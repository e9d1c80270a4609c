import { messageLimit } from '../../api/fields.ts'
import type { Incarnation, RunStatus } from '../../api/run.ts'
import { formatSpan } from '../../lib/duration.ts'
import type { Condition } from '../../lib/object.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'
import { shorten } from '../../lib/text.ts'
import { secondsTime } from '../../lib/time.ts'
import { conditionOf, setCondition } from '../../runtime/conditions.ts'
import type { EventInput, ReconcileResult } from '../../runtime/result.ts'
import type { Ended, Lost, UnderWay } from './incarnation.ts'
import type { RunWorld } from './world.ts'

type Seen = Pick<RunWorld, 'run' | 'now'>

/** Status of a Run that has not settled. */
export function underWay(
  { run, now }: Seen,
  incarnation: DeepReadonly<Incarnation>,
  outcome: UnderWay,
): Pick<ReconcileResult<RunStatus>, 'status' | 'events'> {
  const before = run.status
  const startedAt = before?.startedAt ?? (outcome.kind === 'running' ? outcome.startedAt : undefined)
  const { reason, message } = outcome
  const started = startedCondition(outcome, startedAt !== undefined)
  const status: RunStatus = {
    incarnation,
    phase: phaseOf(outcome, startedAt !== undefined),
    reason,
    message: spoken(outcome),
    ...(startedAt !== undefined && { startedAt }),
    ...(before?.cancelledAt !== undefined && { cancelledAt: before.cancelledAt }),
    ...(before?.logs !== undefined && { logs: before.logs }),
    conditions: conditions({ run, now }, { status: 'Unknown', reason, message }, started),
  }
  return { status, events: eventsOf(before, status) }
}

type SettledPhase = 'Succeeded' | 'Failed' | 'Cancelled' | 'Indeterminate'

/** Status of a Run that settles now: nothing of it changes any more, its logs apart. */
export function settle(
  { run, now }: Seen,
  incarnation: DeepReadonly<Incarnation> | undefined,
  outcome: Ended,
  phase: SettledPhase = phaseOfEnd(outcome),
): Pick<ReconcileResult<RunStatus>, 'status' | 'events'> {
  const startedAt = run.status?.startedAt ?? outcome.startedAt
  const settledAt = secondsTime(now)
  const { reason, message } = outcome
  const verdict = { Succeeded: 'True', Failed: 'False', Cancelled: 'False', Indeterminate: 'Unknown' } as const
  const exitCode = outcome.kind === 'succeeded' ? 0 : outcome.exitCode
  const output = outcome.kind === 'succeeded' ? run.status?.result?.output : undefined
  const status: RunStatus = {
    ...(incarnation !== undefined && { incarnation }),
    phase,
    reason,
    message: spoken(outcome),
    ...(outcome.kind === 'failed' && { cause: outcome.cause }),
    ...(exitCode !== undefined && { exitCode }),
    ...(output !== undefined && { output }),
    ...(startedAt !== undefined && { startedAt }),
    ...(run.status?.cancelledAt !== undefined && { cancelledAt: run.status.cancelledAt }),
    ...(run.status?.logs !== undefined && { logs: run.status.logs }),
    settledAt,
    duration: formatSpan(run.metadata.creationTimestamp ?? settledAt, settledAt),
    conditions: conditions(
      { run, now },
      { status: verdict[phase], reason, message },
      startedAt === undefined ? undefined : hasStarted,
    ),
  }
  const type = phase === 'Succeeded' || phase === 'Cancelled' ? 'Normal' : 'Warning'
  return { status, events: [{ type, reason, note: spoken(outcome), action: 'Settle' }] }
}

/**
 * Status of a Run that goes on with another Job, before that Job exists: from here on the gateway refuses every older
 * pod, and a result that one of them reported meanwhile makes this very write fail.
 */
export function nextIncarnation(
  { run, now }: Seen,
  incarnation: Incarnation,
  lost: Lost,
): Pick<ReconcileResult<RunStatus>, 'status' | 'events'> {
  const reason = 'Restarting'
  const message = `${lost.message}. Another one takes its place`
  const unstarted = { status: 'Unknown', reason, message } as const
  return {
    status: {
      incarnation,
      phase: 'Pending',
      reason,
      message,
      conditions: conditions({ run, now }, unstarted, unstarted),
    },
    events: [{ type: 'Warning', reason: lost.reason, note: message, action: 'Restart' }],
  }
}

/**
 * Makes an end of what the runtime called failed for good, such as a Job that breaks a rule; undefined where it did not.
 * It must not come back when the rule changes: its Session has long been told.
 */
export function settleRefused(seen: Seen): Pick<ReconcileResult<RunStatus>, 'status' | 'events'> | undefined {
  const verdict = conditionOf(seen.run.status?.conditions, 'Succeeded')
  if (verdict?.status !== 'False') return undefined
  const { reason, message } = verdict
  return settle(seen, seen.run.status?.incarnation, { kind: 'failed', cause: 'Refused', reason, message })
}

/** What columns show of a Run whose pass failed: the runtime says it in the condition alone. */
export function summarizeRun(status: RunStatus): RunStatus {
  const verdict = conditionOf(status.conditions, 'Succeeded')
  if (verdict === undefined || status.settledAt !== undefined || verdict.reason === status.reason) return status
  const phase = verdict.status === 'False' ? 'Failed' : 'Waiting'
  return { ...status, phase, reason: verdict.reason, message: verdict.message }
}

function phaseOf(outcome: UnderWay, started: boolean): 'Pending' | 'Waiting' | 'Running' {
  if (outcome.kind === 'waiting') return 'Waiting'
  return started ? 'Running' : 'Pending'
}

function phaseOfEnd(outcome: Ended): SettledPhase {
  if (outcome.kind === 'succeeded') return 'Succeeded'
  return outcome.cause === 'Indeterminate' || outcome.cause === 'Cancelled' ? outcome.cause : 'Failed'
}

/** The message with what a program said about it. */
function spoken({ message, detail }: { readonly message: string; readonly detail?: string }): string {
  return shorten(detail === undefined ? message : `${message}: ${detail}`, messageLimit)
}

type ConditionWords = Pick<Condition, 'status' | 'reason' | 'message'>

const hasStarted: ConditionWords = { status: 'True', reason: 'Started', message: 'The command has started' }

/** `False` while something keeps the pod from starting: the time of that transition is when patience began. */
function startedCondition(outcome: UnderWay, started: boolean): ConditionWords {
  if (started) return hasStarted
  const { reason, message } = outcome
  return { status: outcome.kind === 'waiting' && outcome.blocked ? 'False' : 'Unknown', reason, message }
}

function conditions({ run, now }: Seen, succeeded: ConditionWords, started: ConditionWords | undefined): Condition[] {
  const generation = run.metadata.generation ?? 0
  const list = setCondition(run.status?.conditions, { type: 'Succeeded', ...succeeded }, generation, now)
  return started === undefined ? list : setCondition(list, { type: 'Started', ...started }, generation, now)
}

function eventsOf(before: DeepReadonly<RunStatus> | undefined, after: RunStatus): EventInput[] {
  if (before === undefined)
    return [{ type: 'Normal', reason: 'JobCreated', note: 'Its Job was created', action: 'Create' }]
  if (before.startedAt === undefined && after.startedAt !== undefined) {
    return [{ type: 'Normal', reason: 'Started', note: 'Its command has started', action: 'Start' }]
  }
  if (after.phase !== 'Waiting' || before.reason === after.reason) return []
  return [{ type: 'Warning', reason: after.reason ?? 'Waiting', note: after.message ?? '', action: 'Wait' }]
}
