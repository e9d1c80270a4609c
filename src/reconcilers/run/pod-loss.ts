import { containerNames } from '../../api/run-api.ts'
import type { Pod } from '../../kube/core-types.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'
import type { Observed, PodOutcome, Words } from './incarnation.ts'
import {
  conditionTrue,
  deletionAskedAfter,
  goneAt,
  hasEnded,
  jobEnd,
  mainState,
  mayHaveStarted,
  terminatedState,
} from './pod-state.ts'

/** Eviction, preemption, node loss, and the deletion of the pod or its Job by somebody else. */
export function loss(observed: Observed): PodOutcome | undefined {
  const { pod, result } = observed
  const words = lossWords(observed)
  if (words === undefined) return undefined
  if (!hasEnded(observed)) return leaving(observed, words)
  return { kind: 'lost', started: result !== undefined || mayHaveStarted(pod, observed), ...words }
}

/** A pod that is shutting down may still end well: it has its grace period. */
function leaving({ pod, now }: Observed, words: Words): PodOutcome {
  const { running, terminated } = mainState(pod)
  const gone = goneAt(pod)
  const again = gone === undefined ? undefined : Math.max(1, gone - now.getTime())
  const startedAt = running?.startedAt ?? terminated?.startedAt
  return { kind: 'running', startedAt, ...words, ...(again !== undefined && { again }) }
}

function lossWords({ job, pod }: Observed): Words | undefined {
  const disruption = conditionTrue(pod, 'DisruptionTarget')
  if (disruption !== undefined) {
    return { reason: 'Disrupted', message: disruptionText(disruption.reason) }
  }
  if (job === undefined || job.metadata.deletionTimestamp !== undefined) {
    return { reason: 'JobDeleted', message: 'The Job was deleted before the run had ended' }
  }
  if (isTurnedAway(pod)) {
    return { reason: 'TurnedAway', message: `The node did not take the pod (${pod?.status?.reason})` }
  }
  const end = jobEnd(job)
  if (end === undefined || end.type === 'Complete' || end.reason === 'DeadlineExceeded') return undefined
  if (pod === undefined) return { reason: 'PodLost', message: 'The pod is gone and left no exit code' }
  const main = terminatedState(pod, containerNames.agent)
  if (pod.metadata.deletionTimestamp !== undefined && !(main && deletionAskedAfter(pod, main))) {
    return { reason: 'PodDeleted', message: 'The pod was deleted before its command had ended' }
  }
  return undefined
}

/** The kubelet refused the pod at its door: no container was ever tried. Disk limits are another matter. */
function isTurnedAway(pod: DeepReadonly<Pod> | undefined): boolean {
  const { phase, reason, containerStatuses } = pod?.status ?? {}
  return phase === 'Failed' && reason !== undefined && reason !== 'Evicted' && (containerStatuses ?? []).length === 0
}

function disruptionText(reason: string | undefined): string {
  switch (reason) {
    case 'PreemptionByScheduler':
      return 'The pod was preempted by one of higher priority'
    case 'DeletionByTaintManager':
      return 'The pod was removed from its node, which became unreachable or was tainted'
    case 'DeletionByPodGC':
      return 'The node of the pod is gone'
    case 'TerminationByKubelet':
      return 'The node ended the pod because it ran short of resources or was shut down'
    default:
      return 'The pod was evicted from its node'
  }
}
