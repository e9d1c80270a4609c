import { containerNames } from '../../api/run-api.ts'
import type { BuiltinCondition, Pod } from '../../kube/core-types.ts'
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
  quote,
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
export function leaving({ pod, now }: Observed, words: Words): PodOutcome {
  const { running, terminated } = mainState(pod)
  const gone = goneAt(pod)
  const again = gone === undefined ? undefined : Math.max(1, gone - now.getTime())
  const startedAt = running?.startedAt ?? terminated?.startedAt
  return { kind: 'running', startedAt, ...words, ...(again !== undefined && { again }) }
}

function lossWords({ job, pod, node }: Observed): Words | undefined {
  const place = node === undefined ? 'its node' : `node ${node}`
  const disruption = conditionTrue(pod, 'DisruptionTarget')
  if (disruption !== undefined) return disruptionWords(disruption, place)
  if (job === undefined || job.metadata.deletionTimestamp !== undefined) {
    return { reason: 'JobDeleted', message: 'The Job was deleted before the run had ended' }
  }
  if (isTurnedAway(pod)) {
    const message = `The pod was turned away by ${place} (${pod?.status?.reason})`
    return { reason: 'TurnedAway', message, ...quote(pod?.status?.message) }
  }
  const end = jobEnd(job)
  if (end === undefined || end.type === 'Complete' || end.reason === 'DeadlineExceeded') return undefined
  if (pod === undefined) return { reason: 'PodLost', message: `The pod is gone from ${place} and left no exit code` }
  const main = terminatedState(pod, containerNames.agent)
  if (pod.metadata.deletionTimestamp !== undefined && !(main && deletionAskedAfter(pod, main))) {
    return { reason: 'PodDeleted', message: `The pod was deleted from ${place} before its command had ended` }
  }
  return undefined
}

/** The kubelet refused the pod at its door: no container was ever tried. Disk limits are another matter. */
function isTurnedAway(pod: DeepReadonly<Pod> | undefined): boolean {
  const { phase, reason, containerStatuses } = pod?.status ?? {}
  return phase === 'Failed' && reason !== undefined && reason !== 'Evicted' && (containerStatuses ?? []).length === 0
}

/** Who took the pod from where. The kubelet's own words say what its node was short of. */
function disruptionWords({ reason, message }: BuiltinCondition, place: string): Words {
  const words = { reason: 'Disrupted', message: disruptionText(reason, place) }
  return reason === 'TerminationByKubelet' ? { ...words, ...quote(message) } : words
}

function disruptionText(reason: string | undefined, place: string): string {
  switch (reason) {
    case 'EvictionByEvictionAPI':
      return `The pod was evicted from ${place} on request, as kubectl drain and autoscalers do`
    case 'PreemptionByScheduler':
      return `The pod had to leave ${place} for one of higher priority`
    case 'DeletionByTaintManager':
      return `The pod was removed from ${place}, which became unreachable or not ready, or was tainted with NoExecute`
    case 'DeletionByPodGC':
      return `The pod went with ${place}, which is gone`
    case 'TerminationByKubelet':
      return `The pod was ended by ${place}, which ran short of resources or was shut down`
    default:
      return `The pod was taken from ${place}${reason === undefined ? '' : ` (${reason})`}`
  }
}
