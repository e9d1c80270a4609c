import type { Content } from '../../api/fields.ts'
import type { Run, RunStatus } from '../../api/run.ts'
import { containerNames } from '../../api/run-api.ts'
import { type Job, jobType, type Pod, podType } from '../../kube/core-types.ts'
import { namespaceOf, refOf } from '../../lib/object.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'
import type { ContentStore } from '../../runtime/content-store.ts'
import type { ReconcileContext } from '../../runtime/controller.ts'
import type { ReconcileResult } from '../../runtime/result.ts'
import { jobEnd, mainState, terminatedState } from './pod-state.ts'

const logBytes = 64 * 1024
/** Pause before another try to keep the logs, while the pod is there, in milliseconds. */
const logsAgainMillis = 15_000
/** Whoever cancels a run does not wait longer for its log, in milliseconds: its node may not answer. */
const hurryMillis = 3000

/** What is left to do for a settled Run: end what still runs for it, and keep the end of its log. */
export async function afterSettlement(
  run: DeepReadonly<Run>,
  context: ReconcileContext,
  contents: ContentStore,
): Promise<ReconcileResult<RunStatus>> {
  const jobs = context.read.byOwner(jobType, run.metadata.uid ?? '')
  const pod = recordedPod(run, context)
  const unwanted = jobs
    .filter((job) => isUnwanted(run, job, context))
    .map((job) => refOf({ ...jobType, metadata: job.metadata }))
  const wanted = run.status?.logs === undefined && pod !== undefined && hasLogs(pod, unwanted.length > 0)
  if (!wanted) return { delete: unwanted }
  const logs = await keepLogs(pod, context, contents)
  if (logs === undefined) return { delete: unwanted, after: logsAgainMillis }
  return { delete: unwanted, status: { ...(run.status as RunStatus), logs } }
}

/**
 * The pod of a cancelled run goes as soon as its command has ended, and its log with it. So that is kept before the pod
 * is told to end, and once more when it has ended, if it is still there then.
 */
export async function withLogs(
  run: DeepReadonly<Run>,
  result: ReconcileResult<RunStatus>,
  context: ReconcileContext,
  contents: ContentStore,
): Promise<ReconcileResult<RunStatus>> {
  const { status, delete: unwanted = [] } = result
  const isGoing = unwanted.length > 0
  const pod = isGoing || status?.settledAt !== undefined ? recordedPod(run, context) : undefined
  if (status === undefined || pod === undefined || !hasLogs(pod, isGoing)) return result
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(hurryMillis)])
  const logs = await keepLogs(pod, { ...context, signal }, contents)
  return logs === undefined ? result : { ...result, status: { ...status, logs } }
}

function recordedPod(run: DeepReadonly<Run>, { read }: ReconcileContext): DeepReadonly<Pod> | undefined {
  const { pod, podUID } = run.status?.incarnation ?? {}
  const found = pod === undefined ? undefined : read.get(podType, `${run.metadata.namespace}/${pod}`)
  return found?.metadata.uid === podUID ? found : undefined
}

/**
 * True for a Job that would go on although the run is over: one whose pod cannot start or has used up its time, and one
 * that is not on record, which a manager with an old cache may have made. What ends by itself is left for people to see.
 */
function isUnwanted(run: DeepReadonly<Run>, job: DeepReadonly<Job>, { read }: ReconcileContext): boolean {
  if (jobEnd(job) !== undefined) return false
  const pods = read.byOwner(podType, job.metadata.uid ?? '')
  if (pods.length > 0 && pods.every(isEnding)) return false
  return job.metadata.uid !== run.status?.incarnation?.jobUID || run.status?.phase !== 'Succeeded'
}

function isEnding(pod: DeepReadonly<Pod>): boolean {
  const input = terminatedState(pod, containerNames.input)
  const isOver = mainState(pod).terminated !== undefined || (input !== undefined && input.exitCode !== 0)
  return isOver || pod.metadata.deletionTimestamp !== undefined || pod.status?.phase === 'Failed'
}

/** A log is read when it is complete, or when it is about to go with its pod. */
function hasLogs(pod: DeepReadonly<Pod>, isGoing: boolean): boolean {
  const { running, terminated } = mainState(pod)
  return terminated !== undefined ? terminated.startedAt !== undefined : isGoing && running !== undefined
}

/** Never inline: what a Run may hold inline belongs to its output. */
async function keepLogs(
  pod: DeepReadonly<Pod>,
  { live, log, signal }: ReconcileContext,
  contents: ContentStore,
): Promise<Content | undefined> {
  const place = { name: pod.metadata.name, ...namespaceOf(pod.metadata) }
  try {
    const text = await live.logs(place, containerNames.agent, { tailBytes: logBytes, signal })
    const { digest, size } = await contents.put(text, signal)
    return { digest, size }
  } catch (error) {
    log.info({ error }, 'logs of a settled run could not be kept')
    return undefined
  }
}
