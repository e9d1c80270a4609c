import type { RunCause } from '../../api/run.ts'
import { containerNames, runnerExits } from '../../api/run-api.ts'
import { camelCase } from '../../program/reasons.ts'
import type { Observed, PodOutcome, Words } from './incarnation.ts'
import { blockedStart } from './pod-blocked.ts'
import { leaving, loss } from './pod-loss.ts'
import {
  deletionAskedAfter,
  hasEnded,
  jobEnd,
  mainState,
  outOfMemory,
  quote,
  type Terminated,
  terminatedState,
} from './pod-state.ts'

/** The Job controller acts on the deadline itself; where it does not within this time, we do. */
const slowJobControllerMillis = 15_000
/** An output that takes longer to arrive is worth a word. */
const slowReportMillis = 10_000

/**
 * What became of an incarnation. The order decides between facts that are true at once: success before everything, then
 * disruption of the pod, memory, the Job's deadline, and only then the exit code, which the others also set.
 */
export function podOutcome(observed: Observed): PodOutcome {
  return (
    success(observed) ??
    loss(observed) ??
    memory(observed) ??
    deadline(observed) ??
    failedInput(observed) ??
    evicted(observed) ??
    failedCommand(observed) ??
    unknownEnd(observed) ??
    blockedStart(observed) ??
    underWay(observed)
  )
}

function success({ job, pod, result }: Observed): PodOutcome | undefined {
  if (result === undefined) return undefined
  const main = terminatedState(pod, containerNames.agent)
  const exitedWell = main?.exitCode === 0 || (main === undefined && jobEnd(job)?.type === 'Complete')
  if (!exitedWell) return undefined
  const startedAt = main?.startedAt
  if (result.error === undefined) {
    return {
      kind: 'succeeded',
      startedAt,
      reason: 'Completed',
      message: 'The command succeeded and its output is on record',
    }
  }
  return {
    kind: 'failed',
    cause: 'Application',
    reason: camelCase(result.error),
    message: `The command succeeded, but its output could not be taken (${result.error}). Write UTF-8 text of at most 1 MiB into the regular file /graphwright/output/result`,
    exitCode: 0,
    startedAt,
  }
}

function memory({ pod }: Observed): PodOutcome | undefined {
  const victim = outOfMemory(pod)
  if (victim === undefined) return undefined
  const { name, exitCode, startedAt } = victim
  const advice = name === containerNames.agent ? '. Raise resources.limits.memory of the Environment' : ''
  return {
    kind: 'failed',
    cause: 'Resource',
    reason: 'OOMKilled',
    message: `The container ${name} used more memory than its limit allows and was killed${advice}`,
    ...(name === containerNames.agent && { exitCode, startedAt }),
  }
}

const timeUp: Words = {
  reason: 'TimeUp',
  message: 'Its time is up: the command was told to end, and is killed where it does not within its grace period',
}

function deadline(observed: Observed): PodOutcome | undefined {
  const { job, pod } = observed
  if (jobEnd(job)?.reason !== 'DeadlineExceeded' && !isOverdue(observed)) return undefined
  const { running, terminated } = mainState(pod)
  const isEnding = pod?.metadata.deletionTimestamp !== undefined && !hasEnded(observed)
  // Settled now, it would let the next firing start beside a command that still runs (A-234, Forbid).
  if (running !== undefined && isEnding) return leaving(observed, timeUp)
  const startedAt = running?.startedAt ?? terminated?.startedAt
  const never = startedAt === undefined ? ' before its command could start' : ''
  return {
    kind: 'failed',
    cause: 'Deadline',
    reason: 'DeadlineExceeded',
    message: `The pod used up its time${never}. Raise timeoutSeconds of the step or deadlineSeconds of the Environment, or make the work smaller`,
    ...(terminated && { exitCode: terminated.exitCode }),
    startedAt,
  }
}

/** When the incarnation is over at the latest, whoever is slow, in milliseconds since 1970. */
export function overdueAt({ job, timeUp = Number.POSITIVE_INFINITY }: Pick<Observed, 'job' | 'timeUp'>): number {
  const started = job?.status?.startTime
  const seconds = job?.spec.activeDeadlineSeconds
  const allowed = started === undefined || seconds === undefined ? timeUp : Date.parse(started) + seconds * 1000
  return Math.min(allowed, timeUp) + slowJobControllerMillis
}

function isOverdue(observed: Observed): boolean {
  return jobEnd(observed.job) === undefined && observed.now.getTime() >= overdueAt(observed)
}

/** The init container gave up: nothing of the user's ran. */
function failedInput({ pod }: Observed): PodOutcome | undefined {
  const input = terminatedState(pod, containerNames.input)
  if (input === undefined || input.exitCode === 0) return undefined
  switch (input.exitCode) {
    case runnerExits.NetworkNotIsolated:
      return failedBefore('Refused', 'NetworkNotIsolated', notIsolated)
    case runnerExits.GatewayUnreachable:
      return {
        kind: 'lost',
        started: false,
        reason: 'GatewayUnreachable',
        message: 'The pod could not reach the gateway',
        ...quote(input.message),
      }
    case runnerExits.Refused:
      return failedBefore('Refused', 'GatewayRefused', 'The gateway refused the pod', input.message)
    default: {
      const message = `The container input ended with exit code ${input.exitCode}`
      return failedBefore('Infrastructure', 'InputFailed', message, input.message)
    }
  }
}

const notIsolated =
  'The pod reaches what an isolated pod must not reach: the cluster does not enforce the NetworkPolicy graphwright-runner. Install or repair a network plugin that does, or set network: open in the Environment'

function failedBefore(cause: RunCause, reason: string, message: string, said?: string): PodOutcome {
  return { kind: 'failed', cause, reason, message, ...quote(said) }
}

/** The kubelet ended the pod for using more disk than it may. Under node pressure it is a disruption instead. */
function evicted({ pod }: Observed): PodOutcome | undefined {
  if (pod?.status?.phase !== 'Failed' || pod.status.reason !== 'Evicted') return undefined
  return {
    kind: 'failed',
    cause: 'Resource',
    reason: 'DiskLimitExceeded',
    message: 'The pod used more disk than it may and was ended. Raise workspaceSize of the Environment or write less',
    ...quote(pod.status.message),
  }
}

function failedCommand({ job, pod }: Observed): PodOutcome | undefined {
  const main = terminatedState(pod, containerNames.agent)
  if (main === undefined || main.exitCode === 0) return undefined
  if (couldNotStart(main)) {
    return {
      kind: 'failed',
      cause: 'Refused',
      reason: 'ContainerCannotStart',
      message: 'The command of the container could not be started. Check command and image',
      ...quote(main.message),
      exitCode: main.exitCode,
    }
  }
  // Whoever ends a pod deletes it first: until the Job says why, the exit code may be theirs and not the command's.
  const ended = pod !== undefined && pod.metadata.deletionTimestamp !== undefined && jobEnd(job) === undefined
  if (ended && !deletionAskedAfter(pod, main)) return undefined
  return {
    kind: 'failed',
    cause: 'Application',
    reason: 'CommandFailed',
    message: `The command ended with exit code ${main.exitCode}. Its log says more: graphwright logs`,
    exitCode: main.exitCode,
    startedAt: main.startedAt,
  }
}

function couldNotStart(main: Terminated): boolean {
  return main.reason === 'StartError' || main.reason === 'ContainerCannotRun'
}

function unknownEnd({ job, result, pod }: Observed): PodOutcome | undefined {
  const end = jobEnd(job)
  if (end === undefined) return undefined
  if (end.type === 'Complete' && result === undefined) {
    const message =
      'The command succeeded, but its output never reached the gateway. Look at what it did before you start it again'
    const startedAt = terminatedState(pod, containerNames.agent)?.startedAt
    return { kind: 'failed', cause: 'Indeterminate', reason: 'ResultMissing', message, exitCode: 0, startedAt }
  }
  if (end.type === 'FailureTarget') return undefined
  const message = 'The Job failed and its pod does not say why. Look at what it did before you start it again'
  return { kind: 'failed', cause: 'Indeterminate', reason: 'CauseUnknown', message, ...quote(end.message) }
}

/** Said from the creation of the Job until its pod has a node. */
export const podPending: Words = { reason: 'PodPending', message: 'The pod is being made and placed on a node' }

function underWay({ pod, startSeen, now }: Observed): PodOutcome {
  const { running, terminated } = mainState(pod)
  const startedAt = running?.startedAt ?? terminated?.startedAt
  const words = { reason: 'Running', message: 'The command runs' }
  if (terminated !== undefined) {
    // Reporting takes a moment, in which the gateway writes to this very status: nothing is worth saying before it is slow.
    const left = Date.parse(terminated.finishedAt ?? '') + slowReportMillis - now.getTime()
    if (left > 0) return { kind: 'running', startedAt, ...words, again: left }
    const message = 'The command has ended; its output is on its way to the gateway'
    return { kind: 'running', startedAt, reason: 'Reporting', message }
  }
  if (running !== undefined || startSeen) return { kind: 'running', startedAt, ...words }
  if (pod?.spec.nodeName === undefined) return { kind: 'starting', ...podPending }
  return { kind: 'starting', reason: 'PodStarting', message: 'The pod is starting' }
}
