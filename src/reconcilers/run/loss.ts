import type { Incarnation, RunStatus } from '../../api/run.ts'
import { containerNames } from '../../api/run-api.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'
import type { ReconcileResult } from '../../runtime/result.ts'
import type { Lost, Observed } from './incarnation.ts'
import { jobName } from './job.ts'
import { conditionTrue, jobEnd, terminatedState } from './pod-state.ts'
import { nextIncarnation, settle, underWay } from './status.ts'
import type { RunWorld } from './world.ts'

/** A Run that lost so many pods is given up: what takes them is no accident. */
const maxIncarnations = 10
/** The first replacement comes at once, the next after this time, doubled with each. */
const firstPauseMillis = 10_000
const longestPauseMillis = 300_000

/**
 * What follows when the infrastructure took the pod. The same Run goes on with another Job only where nothing can be
 * done twice: the command had not started, or its agent says that it may be repeated. Otherwise nobody knows what it
 * did, and nothing is repeated.
 */
export function afterLoss(
  world: RunWorld,
  incarnation: DeepReadonly<Incarnation>,
  observed: Observed,
  lost: Lost,
): ReconcileResult<RunStatus> {
  const { reason, message } = lost
  if (lost.started && world.agentVersion?.spec.repeatSafe !== true) {
    const advice =
      'The command had started and may not be repeated: look at what it did. repeatSafe in the Agent allows repeating'
    return settle(
      world,
      incarnation,
      { ...lost, kind: 'failed', cause: 'Infrastructure', message: `${message}. ${advice}` },
      'Indeterminate',
    )
  }
  const number = incarnation.number + 1
  if (number >= maxIncarnations) {
    const advice = 'Its pods were lost again and again, so that it is given up'
    return settle(world, incarnation, {
      ...lost,
      kind: 'failed',
      cause: 'Infrastructure',
      message: `${message}. ${advice}`,
    })
  }
  const pause = pauseMillis(incarnation.number) - (observed.now.getTime() - lostAt(observed))
  if (pause > 0) {
    const waiting = {
      kind: 'waiting',
      blocked: false,
      reason,
      message: `${message}. Another one is made soon`,
    } as const
    return { ...underWay(world, incarnation, waiting), after: pause }
  }
  const { node } = observed
  const replaces = { ...(node !== undefined && { node }), reason, message }
  return nextIncarnation(world, { number, job: jobName(world.run, world.session, number), replaces }, lost)
}

/** Pause before the pod with this number is replaced. */
function pauseMillis(number: number): number {
  return number === 0 ? 0 : Math.min(firstPauseMillis * 2 ** (number - 1), longestPauseMillis)
}

/** When the pod was lost, as far as it can be told, in milliseconds since 1970. */
function lostAt({ job, pod }: Observed): number {
  const times = [
    jobEnd(job)?.lastTransitionTime,
    conditionTrue(pod, 'DisruptionTarget')?.lastTransitionTime,
    terminatedState(pod, containerNames.input)?.finishedAt,
  ]
  return Math.max(0, ...times.filter((time) => time !== undefined).map((time) => Date.parse(time)))
}
