import { agentVersion } from '../api/agent.ts'
import { type Run, type RunStatus, run as runType } from '../api/run.ts'
import { type Session, session as sessionType } from '../api/session.ts'
import { eventType, jobType, podType } from '../kube/core-types.ts'
import { type KubeObject, keyOf, namespaceOf, type ResourceType } from '../lib/object.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import type { ContentStore } from '../runtime/content-store.ts'
import type { Reconcile, ReconcileContext } from '../runtime/controller.ts'
import { Wait } from '../runtime/result.ts'
import { cancelRequest } from './cancelling.ts'
import { decideCancel } from './run/cancel.ts'
import { decideRun, refusalMillis } from './run/decide.ts'
import type { JobSettings } from './run/job-settings.ts'
import { afterSettlement, withLogs } from './run/settled.ts'
import { settleRefused } from './run/status.ts'
import { incarnationOf, jobOf, type RunWorld } from './run/world.ts'

export interface RunOptions {
  readonly settings: JobSettings
  /** Where the logs of settled runs go. */
  readonly contents: ContentStore
}

/** Brings a Run to its end: a Job for each incarnation, the one pod of it on record, and what became of it. */
export function runReconciler(options: RunOptions): Reconcile<Run, RunStatus> {
  return async (run, context) => {
    if (run.status?.settledAt !== undefined) return afterSettlement(run, context, options.contents)
    const refused = settleRefused({ run, now: context.now })
    if (refused !== undefined) return refused
    const world = await gather(run, context)
    const why = cancelRequest(run) ?? (run.status?.cancelledAt === undefined ? undefined : 'the request is gone')
    if (why !== undefined) return withLogs(run, decideCancel(world, why), context, options.contents)
    const result = decideRun(world, options.settings)
    const { number } = incarnationOf(world)
    if (result.create !== undefined && number > 0 && !(await isStillCurrent(run, number, context))) return {}
    return result
  }
}

async function gather(run: DeepReadonly<Run>, context: ReconcileContext): Promise<RunWorld> {
  const { read, now } = context
  const session = await sessionOf(run, context)
  const jobs = read.byOwner(jobType, run.metadata.uid ?? '')
  const incarnation = incarnationOf({ run, session })
  const jobUID = incarnation.jobUID ?? jobOf(jobs, incarnation)?.metadata.uid
  const pods = jobUID === undefined ? [] : read.byOwner(podType, jobUID)
  const version = await find(agentVersion, session.spec.agentVersion.name, run, context)
  const world = { run, session, agentVersion: version, jobs, pods, refusal: undefined, now }
  const hadPod = pods.length > 0 || incarnation.podUID !== undefined
  return hadPod ? world : { ...world, refusal: await refusalOf(world, jobUID, context) }
}

async function sessionOf(run: DeepReadonly<Run>, context: ReconcileContext): Promise<DeepReadonly<Session>> {
  const { name, uid } = run.spec.session
  const found = await find(sessionType, name, run, context)
  if (found?.metadata.uid === uid) return found
  throw new Wait('SessionMissing', 'The Session of this run is gone; the run goes with it')
}

/** An object beside the run. That it is not there is a verdict, and so not for a cache to give. */
async function find<T extends KubeObject>(
  type: ResourceType<T>,
  name: string,
  run: DeepReadonly<Run>,
  { read, live, signal }: ReconcileContext,
): Promise<DeepReadonly<T> | undefined> {
  const place = { name, ...namespaceOf(run.metadata) }
  return read.get(type, keyOf(place)) ?? ((await live.find(type, place, { signal })) as DeepReadonly<T> | undefined)
}

/** Asks the Job's events why it has no pod, once it has had time to make one: nothing else says so. */
async function refusalOf(
  { jobs, now }: RunWorld,
  jobUID: string | undefined,
  { live, log, signal }: ReconcileContext,
): Promise<string | undefined> {
  const job = jobs.find(({ metadata }) => metadata.uid === jobUID)
  const startTime = job?.status?.startTime
  if (job === undefined || startTime === undefined || now.getTime() - Date.parse(startTime) < refusalMillis) {
    return undefined
  }
  const fieldSelector = `regarding.uid=${job.metadata.uid},reason=FailedCreate`
  try {
    const { items } = await live.list(eventType, { namespace: job.metadata.namespace, fieldSelector, signal })
    return items.at(-1)?.note
  } catch (error) {
    log.info({ error }, 'events of a Job without a pod could not be read')
    return undefined
  }
}

/** Before a pod is replaced: is the run, by the API server's word, still the one that the cache shows? */
async function isStillCurrent(run: DeepReadonly<Run>, number: number, context: ReconcileContext): Promise<boolean> {
  const { name, uid } = run.metadata
  const found = await context.live.find(runType, { name, ...namespaceOf(run.metadata) }, { signal: context.signal })
  if (found === undefined || found.metadata.uid !== uid || found.metadata.deletionTimestamp !== undefined) return false
  return found.status?.settledAt === undefined && found.status?.incarnation?.number === number
}
