import { describe, expect, it } from 'vitest'
import type { RunResult } from '../../../../src/api/run.ts'
import type { BuiltinCondition, ContainerState, Pod, PodStatus } from '../../../../src/kube/core-types.ts'
import { deepFreeze } from '../../../../src/lib/readonly.ts'
import type { Observed, PodOutcome } from '../../../../src/reconcilers/run/incarnation.ts'
import { podOutcome } from '../../../../src/reconcilers/run/pod-outcome.ts'
import { createdAt, inlineContent } from '../../../kit/builders.ts'
import { aJob, anEndedJob, aPod, exited, started, waitingFor } from '../../../kit/pods.ts'

const now = new Date('2026-11-30T12:10:00Z')
const secondsAgo = (seconds: number) => new Date(now.getTime() - seconds * 1000).toISOString()
const result: RunResult = { output: inlineContent('done'), incarnation: 0, reportedAt: createdAt }
const running: ContainerState = { running: { startedAt: createdAt } }

function see(observed: Partial<Observed>): PodOutcome {
  const base: Observed = {
    job: aJob(),
    pod: aPod(),
    node: 'node-1',
    podRecorded: true,
    startSeen: false,
    result: undefined,
    blockedSince: undefined,
    refusal: undefined,
    timeUp: undefined,
    now,
  }
  return podOutcome(deepFreeze({ ...base, ...observed }) as Observed)
}

const podWith = (status: PodStatus, metadata: Partial<Pod['metadata']> = {}) => aPod({ status, metadata })
const disrupted = (reason: string): BuiltinCondition[] => [{ type: 'DisruptionTarget', status: 'True', reason }]
const unscheduled: PodStatus = {
  phase: 'Pending',
  conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }],
}
const unscheduledBecause = (message: string): PodStatus => ({
  phase: 'Pending',
  conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }],
})
function unplaced(status: PodStatus): Pod {
  const pod = podWith(status)
  const { nodeName, ...spec } = pod.spec
  return { ...pod, spec }
}
/** Deleted ten seconds ago, with a grace period of two minutes. */
const beingDeleted = { deletionTimestamp: secondsAgo(-110) }
/** Deleted so long ago that it should have been gone two minutes ago. */
const longDeleted = { deletionTimestamp: secondsAgo(120) }
const initState = (name: string, state: ContainerState, rest: Partial<PodStatus> = {}): PodStatus => ({
  ...waitingFor({ name, state }),
  ...rest,
})

interface Row {
  readonly is: string
  readonly observed: Partial<Observed>
  readonly outcome: Partial<PodOutcome> & { readonly kind: PodOutcome['kind'] }
}

const ended: Row[] = [
  {
    is: 'exit code 0 and a recorded result: success, while the sidecar still runs',
    observed: { pod: podWith(started(exited(0))), result },
    outcome: { kind: 'succeeded', reason: 'Completed', startedAt: createdAt },
  },
  {
    is: 'a complete Job whose pod is gone, and a recorded result: success',
    observed: { job: anEndedJob('Complete', 'CompletionsReached'), pod: undefined, result },
    outcome: { kind: 'succeeded' },
  },
  {
    is: 'exit code 0 and no result yet: not done',
    observed: { pod: podWith(started(exited(0, { finishedAt: secondsAgo(3) }))) },
    outcome: { kind: 'running', reason: 'Running', again: 7000 },
  },
  {
    is: 'a result that is slow to arrive',
    observed: { pod: podWith(started(exited(0, { finishedAt: secondsAgo(10) }))) },
    outcome: { kind: 'running', reason: 'Reporting' },
  },
  {
    is: 'a result while the command runs: not done',
    observed: { pod: podWith(started(running)), result },
    outcome: { kind: 'running', reason: 'Running', startedAt: createdAt },
  },
  {
    is: 'a recorded result and exit code 3: the command failed',
    observed: { pod: podWith(started(exited(3))), result },
    outcome: { kind: 'failed', cause: 'Application', reason: 'CommandFailed', exitCode: 3 },
  },
  {
    is: 'an output that could not be taken: failed with its code',
    observed: { pod: podWith(started(exited(0))), result: { ...result, error: 'output_not_utf8' } },
    outcome: { kind: 'failed', cause: 'Application', reason: 'OutputNotUtf8', exitCode: 0 },
  },
  {
    is: 'a failed command settles at once, before the pod is gone',
    observed: { pod: podWith(started(exited(3))) },
    outcome: { kind: 'failed', cause: 'Application', reason: 'CommandFailed', exitCode: 3, startedAt: createdAt },
  },
  {
    is: 'a command that does not exist',
    observed: { pod: podWith(started(exited(128, { reason: 'StartError' }))) },
    outcome: { kind: 'failed', cause: 'Refused', reason: 'ContainerCannotStart', exitCode: 128 },
  },
  {
    is: 'out of memory',
    observed: { pod: podWith(started(exited(137, { reason: 'OOMKilled' }))) },
    outcome: { kind: 'failed', cause: 'Resource', reason: 'OOMKilled', exitCode: 137 },
  },
  {
    is: 'out of memory while input was fetched',
    observed: { pod: podWith(initState('input', exited(137, { reason: 'OOMKilled' }))) },
    outcome: { kind: 'failed', cause: 'Resource', reason: 'OOMKilled' },
  },
  {
    is: 'too much disk: the kubelet evicts without a disruption',
    observed: {
      pod: podWith(started(exited(137), { phase: 'Failed', reason: 'Evicted', message: 'Usage of EmptyDir' })),
    },
    outcome: { kind: 'failed', cause: 'Resource', reason: 'DiskLimitExceeded' },
  },
  {
    is: 'the deadline of the Job, while its pod shuts down',
    observed: {
      job: anEndedJob('FailureTarget', 'DeadlineExceeded'),
      pod: podWith(started(exited(143)), beingDeleted),
    },
    outcome: { kind: 'failed', cause: 'Deadline', reason: 'DeadlineExceeded', exitCode: 143 },
  },
  {
    is: 'the deadline of the Job, while its command has not heard yet that it is to end',
    observed: {
      job: anEndedJob('FailureTarget', 'DeadlineExceeded'),
      pod: podWith(started(running), beingDeleted),
    },
    outcome: { kind: 'running', reason: 'TimeUp', again: 140_000 },
  },
  {
    is: 'the deadline of the Job, and a node that does not say that the command has ended',
    observed: {
      job: anEndedJob('FailureTarget', 'DeadlineExceeded'),
      pod: podWith(started(running), longDeleted),
    },
    outcome: { kind: 'failed', cause: 'Deadline', reason: 'DeadlineExceeded' },
  },
  {
    is: 'the deadline of the Job, its pod gone',
    observed: { job: anEndedJob('Failed', 'DeadlineExceeded'), pod: undefined },
    outcome: { kind: 'failed', cause: 'Deadline', reason: 'DeadlineExceeded' },
  },
  {
    is: 'the deadline, and the Job controller says nothing',
    observed: { job: aJob({ status: { startTime: secondsAgo(3600 + 15) } }), pod: podWith(started(running)) },
    outcome: { kind: 'failed', cause: 'Deadline', reason: 'DeadlineExceeded' },
  },
  {
    is: 'the time of the step is up',
    observed: { timeUp: now.getTime() - 15_000, pod: podWith(started(running)) },
    outcome: { kind: 'failed', cause: 'Deadline', reason: 'DeadlineExceeded' },
  },
  {
    is: 'a deadline that has just passed is left to the Job controller',
    observed: { job: aJob({ status: { startTime: secondsAgo(3600 + 14) } }), pod: podWith(started(running)) },
    outcome: { kind: 'running' },
  },
  {
    is: 'a pod that is not isolated',
    observed: { pod: podWith(initState('input', exited(86), { phase: 'Failed' })) },
    outcome: { kind: 'failed', cause: 'Refused', reason: 'NetworkNotIsolated' },
  },
  {
    is: 'a pod that the gateway refuses',
    observed: { pod: podWith(initState('input', exited(87), { phase: 'Failed' })) },
    outcome: { kind: 'failed', cause: 'Refused', reason: 'GatewayRefused' },
  },
  {
    is: 'a pod that never reached the gateway: nothing has run',
    observed: { pod: podWith(initState('input', exited(88), { phase: 'Failed' })) },
    outcome: { kind: 'lost', started: false, reason: 'GatewayUnreachable' },
  },
  {
    is: 'an input container that fails for another reason, in its own words',
    observed: { pod: podWith(initState('input', exited(1, { message: 'no space left' }), { phase: 'Failed' })) },
    outcome: {
      kind: 'failed',
      cause: 'Infrastructure',
      reason: 'InputFailed',
      detail: 'no space left',
    },
  },
  {
    is: 'a complete Job without a recorded result: nobody knows',
    observed: {
      job: anEndedJob('Complete', 'CompletionsReached'),
      pod: podWith(started(exited(0), { phase: 'Succeeded' })),
    },
    outcome: { kind: 'failed', cause: 'Indeterminate', reason: 'ResultMissing' },
  },
]

const lost: Row[] = [
  {
    is: 'evicted while the command ran: it had started',
    observed: {
      pod: podWith(
        started(exited(143), { phase: 'Failed', conditions: disrupted('EvictionByEvictionAPI') }),
        beingDeleted,
      ),
      job: anEndedJob('Failed', 'BackoffLimitExceeded'),
    },
    outcome: { kind: 'lost', started: true, reason: 'Disrupted' },
  },
  {
    is: 'a disruption counts before an OOM kill that it brought about',
    observed: {
      pod: podWith(
        started(exited(137, { reason: 'OOMKilled' }), {
          phase: 'Failed',
          conditions: disrupted('TerminationByKubelet'),
        }),
      ),
    },
    outcome: { kind: 'lost', started: true, reason: 'Disrupted' },
  },
  {
    is: 'evicted, and still in its grace period: it may end well',
    observed: {
      pod: podWith(started(running, { conditions: disrupted('EvictionByEvictionAPI') }), beingDeleted),
      job: anEndedJob('FailureTarget', 'BackoffLimitExceeded'),
    },
    outcome: { kind: 'running', reason: 'Disrupted', again: 140_000 },
  },
  {
    is: 'evicted, and it did end well: success',
    observed: {
      pod: podWith(started(exited(0), { conditions: disrupted('EvictionByEvictionAPI') }), beingDeleted),
      result,
    },
    outcome: { kind: 'succeeded' },
  },
  {
    is: 'preempted before its command started: its kubelet says so',
    observed: {
      pod: podWith({
        ...waitingFor({ name: 'input', state: running }),
        phase: 'Failed',
        conditions: disrupted('PreemptionByScheduler'),
      }),
    },
    outcome: { kind: 'lost', started: false, reason: 'Disrupted' },
  },
  {
    is: 'a node that is gone: what it last said proves nothing',
    observed: {
      pod: podWith({
        ...waitingFor({ name: 'input', state: running }),
        phase: 'Failed',
        conditions: disrupted('DeletionByPodGC'),
      }),
    },
    outcome: { kind: 'lost', started: true, reason: 'Disrupted' },
  },
  {
    is: 'a node that went silent: given up when the pod should have been gone',
    observed: {
      pod: podWith(
        { ...waitingFor({ name: 'input', state: running }), conditions: disrupted('DeletionByTaintManager') },
        longDeleted,
      ),
    },
    outcome: { kind: 'lost', started: true, reason: 'Disrupted' },
  },
  {
    is: 'lost before it was recorded: it never got its input',
    observed: { pod: undefined, podRecorded: false, job: anEndedJob('Failed', 'BackoffLimitExceeded') },
    outcome: { kind: 'lost', started: false, reason: 'PodLost' },
  },
  {
    is: 'evicted before it was placed, and so never on record',
    observed: {
      podRecorded: false,
      pod: aPod({
        spec: { nodeName: undefined } as never,
        metadata: beingDeleted,
        status: { conditions: disrupted('EvictionByEvictionAPI') },
      }),
    },
    outcome: { kind: 'lost', started: false, reason: 'Disrupted' },
  },
  {
    is: 'the pod is gone without a trace: it may have started',
    observed: { pod: undefined, job: anEndedJob('Failed', 'BackoffLimitExceeded') },
    outcome: { kind: 'lost', started: true, reason: 'PodLost' },
  },
  {
    is: 'somebody deleted the pod: the exit code is theirs',
    observed: {
      pod: podWith(started(exited(143, { finishedAt: secondsAgo(1) }), { phase: 'Failed' }), beingDeleted),
      job: anEndedJob('FailureTarget', 'BackoffLimitExceeded'),
    },
    outcome: { kind: 'lost', started: true, reason: 'PodDeleted' },
  },
  {
    is: 'a pod is being deleted and nobody has said why: wait for the Job',
    observed: { pod: podWith(started(exited(143, { finishedAt: secondsAgo(1) }), { phase: 'Failed' }), beingDeleted) },
    outcome: { kind: 'running', reason: 'Running' },
  },
  {
    is: 'a command that failed long before its pod was deleted',
    observed: {
      pod: podWith(started(exited(1, { finishedAt: secondsAgo(300) }), { phase: 'Failed' }), beingDeleted),
      job: anEndedJob('Failed', 'BackoffLimitExceeded'),
    },
    outcome: { kind: 'failed', cause: 'Application', reason: 'CommandFailed', exitCode: 1 },
  },
  {
    is: 'somebody deleted the Job',
    observed: { job: undefined, pod: undefined },
    outcome: { kind: 'lost', started: true, reason: 'JobDeleted' },
  },
  {
    is: 'a result, but no exit code: it had started, and that is no success',
    observed: { job: undefined, pod: undefined, podRecorded: false, result },
    outcome: { kind: 'lost', started: true, reason: 'JobDeleted' },
  },
  {
    is: 'a kubelet that turns the pod away: nothing has run',
    observed: { pod: podWith({ phase: 'Failed', reason: 'OutOfcpu' }) },
    outcome: { kind: 'lost', started: false, reason: 'TurnedAway' },
  },
]

const waits = (reason: string): ContainerState => ({ waiting: { reason, message: 'said by the kubelet' } })
const agentWaits = (reason: string) => podWith(waitingFor({ name: 'agent', image: 'no/such:1', state: waits(reason) }))

const starting: Row[] = [
  ...['ErrImagePull', 'ImagePullBackOff'].flatMap((reason): Row[] => [
    {
      is: `${reason} for the first time`,
      observed: { pod: agentWaits(reason) },
      outcome: { kind: 'waiting', blocked: true, reason: 'ImageUnavailable', again: 120_000 },
    },
    {
      is: `${reason} for 119 seconds`,
      observed: { pod: agentWaits(reason), blockedSince: secondsAgo(119) },
      outcome: { kind: 'waiting', reason: 'ImageUnavailable', again: 1000 },
    },
    {
      is: `${reason} for 120 seconds`,
      observed: { pod: agentWaits(reason), blockedSince: secondsAgo(120) },
      outcome: {
        kind: 'failed',
        cause: 'Refused',
        reason: 'ImageUnavailable',
        message: expect.stringContaining('no/such:1'),
        detail: 'said by the kubelet',
      },
    },
  ]),
  ...['InvalidImageName', 'ErrImageNeverPull'].map(
    (reason): Row => ({
      is: `${reason}: at once`,
      observed: { pod: agentWaits(reason) },
      outcome: { kind: 'failed', cause: 'Refused', reason: 'ImageUnavailable' },
    }),
  ),
  {
    is: 'an image of the operator that cannot be pulled',
    observed: { pod: podWith(waitingFor({ name: 'input', image: 'runner:1', state: waits('ErrImagePull') })) },
    outcome: {
      kind: 'waiting',
      blocked: true,
      reason: 'ImageUnavailable',
      message: expect.stringContaining('runner:1'),
    },
  },
  ...['CreateContainerConfigError', 'CreateContainerError'].flatMap((reason): Row[] => [
    { is: reason, observed: { pod: agentWaits(reason) }, outcome: { kind: 'waiting', reason: 'ContainerCannotStart' } },
    {
      is: `${reason} for two minutes`,
      observed: { pod: agentWaits(reason), blockedSince: secondsAgo(120) },
      outcome: { kind: 'failed', cause: 'Refused', reason: 'ContainerCannotStart' },
    },
  ]),
  {
    is: 'a sidecar that keeps crashing',
    observed: { pod: podWith(waitingFor({ name: 'runner', state: waits('CrashLoopBackOff') })) },
    outcome: { kind: 'waiting', blocked: true, reason: 'RunnerNotStarting' },
  },
  {
    is: 'no node takes the pod',
    observed: { pod: unplaced(unscheduled) },
    outcome: { kind: 'waiting', blocked: false, reason: 'Unschedulable' },
  },
  ...(
    [
      [
        '0/1 nodes are available: 1 node(s) were unschedulable. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.',
        '(nodes were unschedulable)',
      ],
      [
        '0/9 nodes are available: 3 node(s) had untolerated taint(s), 6 Insufficient cpu. preemption: none.',
        '(Insufficient cpu, nodes had untolerated taint(s))',
      ],
      ['no nodes available to schedule pods', '(there are no nodes)'],
      ['something new', 'takes the pod. '],
    ] as const
  ).map(
    ([said, told]): Row => ({
      is: `no node takes the pod, and the scheduler says why: ${said}`,
      observed: { pod: unplaced(unscheduledBecause(said)) },
      outcome: { kind: 'waiting', reason: 'Unschedulable', message: expect.stringContaining(told) },
    }),
  ),
  {
    is: 'a pod that was placed after all, while the scheduler still says otherwise',
    observed: { pod: podWith(unscheduled) },
    outcome: { kind: 'starting', reason: 'PodStarting' },
  },
  {
    is: 'no room in the quota',
    observed: {
      pod: undefined,
      podRecorded: false,
      refusal:
        'Error creating: pods "triage-x-1" is forbidden: exceeded quota: team, requested: pods=1, used: pods=1, limited: pods=1',
    },
    outcome: {
      kind: 'waiting',
      blocked: false,
      reason: 'QuotaExceeded',
      message: expect.stringContaining('ResourceQuota team'),
    },
  },
  {
    is: 'a pod that the API server refuses, in words that do not change with each attempt',
    observed: {
      pod: undefined,
      podRecorded: false,
      refusal: 'Error creating: pods "triage-x-1" is forbidden: no PriorityClass with name low was found',
    },
    outcome: {
      kind: 'waiting',
      reason: 'PodRefused',
      detail: 'the pod is forbidden: no PriorityClass with name low was found',
    },
  },
  {
    is: 'no pod yet',
    observed: { pod: undefined, podRecorded: false },
    outcome: { kind: 'starting', reason: 'PodPending' },
  },
  {
    is: 'input under way',
    observed: { pod: podWith(initState('input', running)) },
    outcome: { kind: 'starting', reason: 'PodStarting' },
  },
]

describe('[A-283] what became of a pod', () => {
  it.each(ended)('$is', ({ observed, outcome }) => {
    expect(see(observed)).toMatchObject(outcome)
  })
})

describe('what the infrastructure took', () => {
  it.each(lost)('$is', ({ observed, outcome }) => {
    expect(see(observed)).toMatchObject(outcome)
  })
})

describe('who took a pod from where', () => {
  const kubelet = 'The node was low on resource: memory.'
  it.each([
    ['EvictionByEvictionAPI', 'evicted from node node-1 on request, as kubectl drain', undefined],
    ['PreemptionByScheduler', 'leave node node-1 for one of higher priority', undefined],
    ['DeletionByTaintManager', 'removed from node node-1, which became unreachable', undefined],
    ['DeletionByPodGC', 'went with node node-1, which is gone', undefined],
    ['TerminationByKubelet', 'ended by node node-1, which ran short of resources', kubelet],
    ['SomethingNew', 'taken from node node-1 (SomethingNew)', undefined],
  ])('%s', (reason, told, detail) => {
    const conditions = disrupted(reason).map((condition) => ({ ...condition, message: kubelet }))
    const outcome = see({ pod: podWith(started(exited(143), { phase: 'Failed', conditions })) })
    expect(outcome).toMatchObject({ kind: 'lost', reason: 'Disrupted', message: expect.stringContaining(told) })
    expect('detail' in outcome ? outcome.detail : undefined).toBe(detail)
  })

  it('a pod that is gone: from the node on record', () => {
    const gone = { pod: undefined, job: anEndedJob('Failed', 'BackoffLimitExceeded') }
    expect(see(gone).message).toBe('The pod is gone from node node-1 and left no exit code')
    expect(see({ ...gone, node: undefined }).message).toContain('gone from its node')
  })
})

describe('what has not started', () => {
  it.each(starting)('$is', ({ observed, outcome }) => {
    expect(see(observed)).toMatchObject(outcome)
  })
})

it('every message is a sentence for people, without times and generated names', () => {
  for (const { is, observed } of [...ended, ...lost, ...starting]) {
    const { message, reason } = see(observed)
    expect(message, is).toMatch(/^[A-Z].{10,}/)
    expect(message, is).not.toMatch(/\d{4}-\d\d-\d\d|abcde|uid-of/)
    expect(reason, is).toMatch(/^[A-Z][A-Za-z0-9]+$/)
  }
})
