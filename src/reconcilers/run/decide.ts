import { runnerName } from '../../api/labels.ts'
import type { Incarnation, RunStatus } from '../../api/run.ts'
import type { Pod } from '../../kube/core-types.ts'
import { controllerOf } from '../../lib/owner-references.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'
import { conditionOf } from '../../runtime/conditions.ts'
import type { ReconcileResult } from '../../runtime/result.ts'
import type { Ended, Observed, PodOutcome } from './incarnation.ts'
import { deadlineSeconds, environmentProblem, jobFor } from './job.ts'
import type { JobSettings } from './job-settings.ts'
import { afterLoss } from './loss.ts'
import { overdueAt, podOutcome, podPending } from './pod-outcome.ts'
import { imageOf } from './pod-spec.ts'
import { settle, underWay } from './status.ts'
import { incarnationOf, jobOf, type RunWorld } from './world.ts'

/** How long a Job may be without a pod before it is asked why, and how often it is asked, in milliseconds. */
export const refusalMillis = 2000

/** The next step of a Run that has not settled. */
export function decideRun(world: RunWorld, settings: JobSettings): ReconcileResult<RunStatus> {
  const before = incarnationOf(world)
  if (before.jobUID === undefined && jobOf(world.jobs, before) === undefined) return makeJob(world, before, settings)
  const incarnation = recorded(world, before)
  if (claimants(world, incarnation).length > 1) return underWay(world, incarnation, notUnique)
  const observed = observe(world, incarnation)
  const outcome = podOutcome(observed)
  if (outcome.kind === 'lost') return afterLoss(world, incarnation, observed, outcome)
  if (outcome.kind === 'failed' || outcome.kind === 'succeeded') {
    return settle(world, incarnation, outcome)
  }
  const after = nextLook(observed, outcome)
  return { ...underWay(world, incarnation, outcome), ...(Number.isFinite(after) && { after }) }
}

/** Creates the Job, unless it is certain that its pod could not run. A Job that is there already is adopted. */
function makeJob(
  world: RunWorld,
  incarnation: DeepReadonly<Incarnation>,
  settings: JobSettings,
): ReconcileResult<RunStatus> {
  const { run, session, agentVersion } = world
  const refused = refusalOf(world)
  if (refused !== undefined || agentVersion === undefined) return settle(world, incarnation, refused ?? versionMissing)
  const job = jobFor({
    run,
    session,
    agentVersion,
    incarnation: incarnation.number,
    deadlineSeconds: deadlineSeconds(session),
    settings,
  })
  const outcome = { kind: 'starting', ...podPending } as const
  return { create: [job], ...underWay(world, incarnation, outcome), after: refusalMillis }
}

const versionMissing: Ended = {
  kind: 'failed',
  cause: 'Refused',
  reason: 'AgentVersionMissing',
  message: 'The AgentVersion that this run was admitted with is gone. Fire again to use the current one',
}

function refusalOf(world: RunWorld): Ended | undefined {
  const { session, agentVersion, now } = world
  const environment = session.spec.environment.spec
  if (now.getTime() >= (timeUp(world) ?? Number.POSITIVE_INFINITY)) {
    const message = 'The time of the step was up before its pod could start. Raise timeoutSeconds of the step'
    return { kind: 'failed', cause: 'Deadline', reason: 'DeadlineExceeded', message }
  }
  const { uid, digest } = session.spec.agentVersion
  if (agentVersion?.metadata.uid !== uid || agentVersion.spec.digest !== digest) return versionMissing
  const problem = environmentProblem(environment)
  if (problem !== undefined) return { kind: 'failed', cause: 'Refused', reason: 'EnvironmentInvalid', message: problem }
  if (imageOf(environment, agentVersion.spec) !== undefined) return undefined
  const message = 'There is no image to run: set image in the Environment, or runtime.container.image in the Agent'
  return { kind: 'failed', cause: 'Refused', reason: 'ImageMissing', message }
}

/** When the time of the step is up, whatever happened to its pods: it counts from the creation of the Run. */
function timeUp({ run, session }: RunWorld): number | undefined {
  const { timeoutSeconds } = session.spec
  const created = run.metadata.creationTimestamp
  return timeoutSeconds === undefined || created === undefined ? undefined : Date.parse(created) + timeoutSeconds * 1000
}

/**
 * The incarnation with the UIDs of its Job and pod. The pod is the one pod that the Job controls and that runs as
 * `graphwright-runner`; where there are several, none is believed. What is on record never changes. A pod is recorded
 * when it has its node: until then it gets no input from the gateway, so that one that is not on record never ran.
 */
export function recorded(world: RunWorld, incarnation: DeepReadonly<Incarnation>): DeepReadonly<Incarnation> {
  if (incarnation.podUID !== undefined) return incarnation
  const jobUID = jobOf(world.jobs, incarnation)?.metadata.uid
  const [pod, ...others] = claimants(world, incarnation)
  const { uid, name, deletionTimestamp } = pod?.metadata ?? {}
  const node = pod?.spec.nodeName
  const isFit = others.length === 0 && node !== undefined && deletionTimestamp === undefined
  if (!isFit || jobUID === undefined || uid === undefined || name === undefined) return incarnation
  return { ...incarnation, jobUID, pod: name, podUID: uid, node }
}

/** Pods that may be the one of the incarnation, while it is not on record. */
function claimants({ jobs, pods }: RunWorld, incarnation: DeepReadonly<Incarnation>): DeepReadonly<Pod>[] {
  const jobUID = jobOf(jobs, incarnation)?.metadata.uid
  if (jobUID === undefined || incarnation.podUID !== undefined) return []
  return pods.filter((pod) => isPodOf(pod, jobUID))
}

const notUnique = {
  kind: 'waiting',
  blocked: false,
  reason: 'PodNotUnique',
  message: 'Several pods claim to be the one of its Job, and none is believed. Delete those that the Job did not make',
} as const

function isPodOf(pod: DeepReadonly<Pod>, jobUID: string): boolean {
  const owner = controllerOf(pod)
  return owner?.kind === 'Job' && owner.uid === jobUID && pod.spec.serviceAccountName === runnerName
}

export function observe(world: RunWorld, incarnation: DeepReadonly<Incarnation>): Observed {
  const { run, jobs, pods, refusal, now } = world
  const [claimant] = claimants(world, incarnation)
  const started = conditionOf(run.status?.conditions, 'Started')
  const pod = claimant ?? pods.find(({ metadata }) => metadata.uid === incarnation.podUID)
  return {
    job: jobOf(jobs, incarnation),
    pod,
    node: incarnation.node ?? pod?.spec.nodeName,
    podRecorded: incarnation.podUID !== undefined,
    startSeen: run.status?.startedAt !== undefined,
    // What an earlier pod reported before it was lost is no result of this one.
    result: run.status?.result?.incarnation === incarnation.number ? run.status.result : undefined,
    blockedSince: started?.status === 'False' ? started.lastTransitionTime : undefined,
    refusal,
    timeUp: timeUp(world),
    now,
  }
}

/** Milliseconds to the next pass, if nothing changes before. */
export function nextLook(observed: Observed, outcome: PodOutcome): number {
  const again = 'again' in outcome ? outcome.again : undefined
  const waitsForPod = observed.pod === undefined && !observed.podRecorded
  const due = Math.max(1, overdueAt(observed) - observed.now.getTime())
  return Math.min(due, again ?? due, waitsForPod ? refusalMillis : due)
}
