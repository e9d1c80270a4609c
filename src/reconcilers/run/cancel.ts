import type { Incarnation, RunStatus } from '../../api/run.ts'
import { jobType } from '../../kube/core-types.ts'
import { refOf } from '../../lib/object.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'
import type { ReconcileResult } from '../../runtime/result.ts'
import { nextLook, observe, recorded } from './decide.ts'
import type { Observed, UnderWay } from './incarnation.ts'
import { afterLoss } from './loss.ts'
import { podOutcome } from './pod-outcome.ts'
import { hasEnded, mainState } from './pod-state.ts'
import { settle, underWay } from './status.ts'
import { incarnationOf, type RunWorld } from './world.ts'

type Result = ReconcileResult<RunStatus>

/**
 * How long the pod of a cancelled run is waited for. Its grace period is shorter, so that only a node that does not
 * answer needs all of it.
 */
const patienceMillis = 115_000

/**
 * The next step of a Run that is to end. First that is recorded, by the same compare-and-set that a result has to pass:
 * a result that was there before counts, one that comes later does not. Then the Job is deleted, and its pod gets
 * SIGTERM and its grace period. The run is over when its command is.
 */
export function decideCancel(world: RunWorld, why: string): Result {
  const before = incarnationOf(world)
  const incarnation = recorded(world, before)
  const observed = observe(world, incarnation)
  if (world.run.status?.cancelledAt !== undefined) return end(world, incarnation, observed, why)
  if (before.jobUID === undefined && observed.job === undefined) {
    return cancelled(world, incarnation, observed, `It was cancelled by request (${why}) before its pod was made`)
  }
  return decided(world, incarnation, observed) ?? tell(world, incarnation, why)
}

/** What became of the run by itself, or is about to. */
function decided(world: RunWorld, incarnation: DeepReadonly<Incarnation>, observed: Observed): Result | undefined {
  const outcome = podOutcome(observed)
  if (outcome.kind === 'succeeded' || outcome.kind === 'failed') return settle(world, incarnation, outcome)
  if (outcome.kind === 'lost') {
    // What nobody knows stays unknown, and nothing else takes the place of what was lost.
    const isUnknown = outcome.started && world.agentVersion?.spec.repeatSafe !== true
    return isUnknown ? afterLoss(world, incarnation, observed, outcome) : undefined
  }
  if (observed.result === undefined) return undefined
  const after = nextLook(observed, outcome)
  return { ...underWay(world, incarnation, outcome), ...(Number.isFinite(after) && { after }) }
}

function tell(world: RunWorld, incarnation: DeepReadonly<Incarnation>, why: string): Result {
  const { status, events } = underWay(world, incarnation, cancelling(why))
  return { ...(status && { status: { ...status, cancelledAt: world.now.toISOString() } }), ...(events && { events }) }
}

function cancelling(why: string): UnderWay {
  const message = `It is being cancelled by request (${why}): its pod is told to end`
  return { kind: 'running', startedAt: undefined, reason: 'Cancelling', message }
}

function end(world: RunWorld, incarnation: DeepReadonly<Incarnation>, observed: Observed, why: string): Result {
  const { job, now } = observed
  const pods = world.pods.map((pod) => ({ pod, now }))
  const left = Date.parse(world.run.status?.cancelledAt ?? '') + patienceMillis - now.getTime()
  const isGoing = job === undefined || job.metadata.deletionTimestamp !== undefined
  if (isGoing && pods.every(isOver)) {
    const started = mainState(observed.pod).terminated ?? world.run.status?.startedAt
    const stays = started === undefined ? '' : '. What its command had done by then stays done'
    return cancelled(world, incarnation, observed, `It was cancelled by request (${why})${stays}`)
  }
  if (left <= 0) {
    const message = `It was cancelled by request (${why}), but its pod has not said that it ended: its node may not answer. Look at what the command did, or still does`
    return cancelled(world, incarnation, observed, message, 'CancelUnconfirmed')
  }
  const unwanted = isGoing ? [] : [refOf({ ...jobType, metadata: job.metadata })]
  return { delete: unwanted, ...underWay(world, incarnation, cancelling(why)), after: left }
}

/** Nothing of the user's runs any more: the sidecar may still be about to report, which no longer matters. */
function isOver(observed: Pick<Observed, 'pod' | 'now'>): boolean {
  return mainState(observed.pod).terminated !== undefined || hasEnded(observed)
}

function cancelled(
  world: RunWorld,
  incarnation: DeepReadonly<Incarnation>,
  { pod }: Observed,
  message: string,
  reason = 'Cancelled',
): Result {
  const { terminated } = mainState(pod)
  const known = incarnation.jobUID === undefined ? world.run.status?.incarnation : incarnation
  return settle(world, known, {
    kind: 'failed',
    cause: 'Cancelled',
    reason,
    message,
    ...(terminated && { exitCode: terminated.exitCode, startedAt: terminated.startedAt }),
  })
}
