import type { ContainerState, ContainerStatus, Job, Pod, PodStatus } from '../../src/kube/core-types.ts'
import { jobFor } from '../../src/reconcilers/run/job.ts'
import { anAgentVersion, aRun, aSession, createdAt } from './builders.ts'
import { jobSettings } from './job-settings.ts'

/** Jobs and pods in the states that the control plane and a kubelet bring them into. */

/** The Job of the run of `aRun()`, as the Job controller keeps it while its pod is under way. */
export function aJob(
  given: { readonly status?: Job['status']; readonly metadata?: Partial<Job['metadata']> } = {},
): Job {
  const run = aRun()
  const job = jobFor({
    run,
    session: aSession(),
    agentVersion: anAgentVersion(),
    incarnation: 0,
    deadlineSeconds: 3600,
    settings: jobSettings,
  })
  const owner = { apiVersion: run.apiVersion, kind: run.kind, name: run.metadata.name, uid: run.metadata.uid ?? '' }
  return {
    ...job,
    metadata: {
      ...job.metadata,
      uid: 'uid-of-job',
      creationTimestamp: createdAt,
      ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
      ...given.metadata,
    },
    status: { active: 1, startTime: createdAt, ...given.status },
  }
}

/** A Job with one condition that holds. */
export function anEndedJob(type: 'Complete' | 'Failed' | 'FailureTarget', reason: string): Job {
  return aJob({ status: { active: 0, conditions: [{ type, status: 'True', reason, lastTransitionTime: createdAt }] } })
}

/** What is on record of `aJob()` and `aPod()`. */
export function anIncarnation() {
  const { name, uid } = aJob().metadata
  const pod = aPod()
  const { name: podName, uid: podUID } = pod.metadata
  return { number: 0, job: name, jobUID: uid, pod: podName, podUID, node: pod.spec.nodeName }
}

/** The pod of `aJob()`, placed on a node. */
export function aPod(
  given: {
    readonly status?: PodStatus
    readonly metadata?: Partial<Pod['metadata']>
    readonly spec?: Partial<Pod['spec']>
  } = {},
): Pod {
  const job = aJob()
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${job.metadata.name}-abcde`,
      namespace: 'default',
      uid: 'uid-of-pod',
      creationTimestamp: createdAt,
      labels: { ...job.spec.template.metadata?.labels },
      ownerReferences: [
        { apiVersion: 'batch/v1', kind: 'Job', name: job.metadata.name, uid: 'uid-of-job', controller: true },
      ],
      ...given.metadata,
    },
    spec: { ...job.spec.template.spec, nodeName: 'node-1', ...given.spec },
    status: { phase: 'Pending', ...given.status },
  }
}

const done: ContainerState = { terminated: { exitCode: 0, reason: 'Completed', finishedAt: createdAt } }

/** Status of a pod whose init containers are through, with this state of the main container. */
export function started(agent: ContainerState, rest: Partial<PodStatus> = {}): PodStatus {
  return {
    phase: 'Running',
    initContainerStatuses: [
      { name: 'input', state: done },
      { name: 'runner', state: { running: { startedAt: createdAt } } },
    ],
    containerStatuses: [{ name: 'agent', state: agent }],
    ...rest,
  }
}

/** Status of a pod whose container cannot start, and the others wait for it. */
export function waitingFor(container: ContainerStatus): PodStatus {
  const initial = { waiting: { reason: 'PodInitializing' } }
  const state = (name: string): ContainerStatus => (container.name === name ? container : { name, state: initial })
  return {
    phase: 'Pending',
    initContainerStatuses: [state('input'), state('runner')],
    containerStatuses: [state('agent')],
  }
}

/** State of a container that ended. */
export function exited(
  exitCode: number,
  rest: Partial<NonNullable<ContainerState['terminated']>> = {},
): ContainerState {
  const reason = exitCode === 0 ? 'Completed' : 'Error'
  return { terminated: { exitCode, reason, startedAt: createdAt, finishedAt: createdAt, ...rest } }
}
