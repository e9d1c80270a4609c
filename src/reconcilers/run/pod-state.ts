import { containerNames } from '../../api/run-api.ts'
import type { BuiltinCondition, ContainerState, Job, Pod } from '../../kube/core-types.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'
import { beginningOf } from '../../lib/text.ts'
import type { Observed } from './incarnation.ts'

/** Readings of a pod's and a Job's status that decide nothing by themselves. */

type AnyPod = DeepReadonly<Pod> | undefined
export type Terminated = DeepReadonly<NonNullable<ContainerState['terminated']>>

/** The longest grace period that a pod of ours may have: those of the release before still do. */
const longestGraceMillis = 120_000
/** How far the clocks of a node and of the API server may be apart. */
const skewMillis = 10_000
/** A pod still there so long after it should have gone is on a node that does not answer. */
const silentNodeMillis = 30_000

/** State of the main container; empty where nothing is known. */
export function mainState(pod: AnyPod): DeepReadonly<ContainerState> {
  return stateOf(pod, containerNames.agent) ?? {}
}

/** How a container ended; undefined while it has not. */
export function terminatedState(pod: AnyPod, container: string): Terminated | undefined {
  return stateOf(pod, container)?.terminated
}

function stateOf(pod: AnyPod, container: string): DeepReadonly<ContainerState> | undefined {
  return statusesOf(pod).find(({ name }) => name === container)?.state
}

/** Statuses of all containers, in the order in which they start. */
export function statusesOf(pod: AnyPod) {
  return [...(pod?.status?.initContainerStatuses ?? []), ...(pod?.status?.containerStatuses ?? [])]
}

/** The condition of this type, if it holds. */
export function conditionTrue(object: AnyPod | DeepReadonly<Job>, type: string): BuiltinCondition | undefined {
  return object?.status?.conditions?.find((condition) => condition.type === type && condition.status === 'True')
}

/**
 * How the Job ended: `Complete`, `Failed`, or `FailureTarget`, which says that it is going to fail while its pod may
 * still be shutting down. Undefined while it is under way.
 */
export function jobEnd(job: DeepReadonly<Job> | undefined): BuiltinCondition | undefined {
  return conditionTrue(job, 'Complete') ?? conditionTrue(job, 'Failed') ?? conditionTrue(job, 'FailureTarget')
}

/** The container that was killed for want of memory; the sidecar does not count, it is started again. */
export function outOfMemory(pod: AnyPod): (Terminated & { readonly name: string }) | undefined {
  for (const name of [containerNames.agent, containerNames.input]) {
    const state = terminatedState(pod, name)
    if (state?.reason === 'OOMKilled') return { ...state, name }
  }
  return undefined
}

/** True when nothing of the pod runs any more, or its node has been silent for so long that nobody can tell. */
export function hasEnded({ pod, now }: Pick<Observed, 'pod' | 'now'>): boolean {
  const phase = pod?.status?.phase
  if (pod === undefined || phase === 'Failed' || phase === 'Succeeded') return true
  const gone = goneAt(pod)
  // The API server places no pod that is being deleted.
  if (pod.spec.nodeName === undefined) return gone !== undefined
  return gone !== undefined && now.getTime() >= gone
}

/** When a pod that is being deleted is given up, in milliseconds since 1970. */
export function goneAt(pod: AnyPod): number | undefined {
  const deleted = pod?.metadata.deletionTimestamp
  return deleted === undefined ? undefined : Date.parse(deleted) + silentNodeMillis
}

/** True when the container had certainly ended before anybody asked for the pod's deletion. */
export function deletionAskedAfter(pod: DeepReadonly<Pod>, main: Terminated): boolean {
  const { deletionTimestamp } = pod.metadata
  if (deletionTimestamp === undefined) return true
  // The timestamp is the time of the request plus the grace period that was asked for, which is ours at most.
  const earliestRequest = Date.parse(deletionTimestamp) - longestGraceMillis - skewMillis
  return main.finishedAt !== undefined && Date.parse(main.finishedAt) < earliestRequest
}

/**
 * False only where the main container of a lost pod certainly did not run: the pod was never recorded (so that it was
 * never given its input), or its kubelet, which is alive, says so. A node that went silent proves nothing.
 */
export function mayHaveStarted(pod: AnyPod, { podRecorded, startSeen }: Pick<Observed, 'podRecorded' | 'startSeen'>) {
  if (startSeen) return true
  if (!podRecorded) return false
  if (pod === undefined) return true
  const { running, terminated } = mainState(pod)
  if (running !== undefined || terminated !== undefined) return true
  const phase = pod.status?.phase
  const reported = phase === 'Failed' || phase === 'Succeeded'
  return !reported || conditionTrue(pod, 'DisruptionTarget')?.reason === 'DeletionByPodGC'
}

/** What a program said, if it said anything, no longer than people read. */
export function quote(said: string | undefined): { readonly detail?: string } {
  const detail = beginningOf(said?.trim() ?? '', 512)
  return detail === '' ? {} : { detail }
}
