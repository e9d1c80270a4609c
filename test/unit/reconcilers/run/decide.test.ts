import { describe, expect, it } from 'vitest'
import type { RunStatus } from '../../../../src/api/run.ts'
import type { Job, Pod } from '../../../../src/kube/core-types.ts'
import { deepFreeze } from '../../../../src/lib/readonly.ts'
import { decideRun } from '../../../../src/reconcilers/run/decide.ts'
import { jobName } from '../../../../src/reconcilers/run/job.ts'
import { settleRefused, summarizeRun } from '../../../../src/reconcilers/run/status.ts'
import type { RunWorld } from '../../../../src/reconcilers/run/world.ts'
import { conditionOf } from '../../../../src/runtime/conditions.ts'
import { anAgentVersion, anEnvironment, aRun, aSession, createdAt, inlineContent } from '../../../kit/builders.ts'
import { jobSettings } from '../../../kit/job-settings.ts'
import { aJob, anEndedJob, anIncarnation, aPod, exited, started, waitingFor } from '../../../kit/pods.ts'

const now = new Date('2026-11-30T12:00:30Z')
const name = aJob().metadata.name
const recorded = anIncarnation()
const result = { output: inlineContent('done'), incarnation: 0, reportedAt: createdAt }

/** Plans a run whose Job and pod are on record. */
function plan(
  given: Partial<RunWorld> & { readonly status?: RunStatus; readonly job?: Job; readonly pod?: Pod | null } = {},
) {
  const {
    status = { incarnation: recorded, phase: 'Pending', reason: 'PodStarting' },
    job = aJob(),
    pod = aPod(),
    ...rest
  } = given
  const world: RunWorld = {
    run: aRun({ status }),
    session: aSession(),
    agentVersion: anAgentVersion(),
    jobs: [job],
    pods: pod === null ? [] : [pod],
    refusal: undefined,
    now,
    ...rest,
  }
  return decideRun(deepFreeze(world) as RunWorld, jobSettings)
}

const disruptedPod = (phase: 'Failed' | 'Running' = 'Failed') =>
  aPod({
    status: started(exited(143), {
      phase,
      conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' }],
    }),
  })
const repeatSafe = anAgentVersion({ spec: { repeatSafe: true } })

describe('a new run', () => {
  const fresh = { run: aRun(), jobs: [], pods: [] }

  it('gets its Job, and its first incarnation on record', () => {
    const { create, status, events } = plan(fresh)
    expect(create?.map(({ metadata }) => metadata.name)).toEqual([jobName(aRun(), aSession(), 0)])
    expect(status).toMatchObject({ phase: 'Pending', reason: 'PodPending', incarnation: { number: 0, job: name } })
    expect(conditionOf(status?.conditions, 'Succeeded')).toMatchObject({ status: 'Unknown', reason: 'PodPending' })
    expect(events?.map(({ reason }) => reason)).toEqual(['JobCreated'])
  })

  it('adopts the Job that an earlier manager created before it ended', () => {
    const { create, status } = plan({ ...fresh, jobs: [aJob()], pods: [aPod()] })
    expect(create).toBeUndefined()
    expect(status?.incarnation).toEqual(recorded)
  })

  it.each([
    [
      'ImageMissing',
      {
        session: aSession({
          spec: { environment: { name: 'e', spec: { ...anEnvironment().spec, image: undefined } } },
        }),
      },
    ],
    [
      'EnvironmentInvalid',
      {
        session: aSession({
          spec: {
            environment: { name: 'e', spec: { ...anEnvironment().spec, podLabels: { 'graphwright.dev/run': 'x' } } },
          },
        }),
      },
    ],
    ['AgentVersionMissing', { agentVersion: undefined }],
    ['AgentVersionMissing', { agentVersion: anAgentVersion({ metadata: { uid: 'another' } }) }],
  ])('is refused with %s before anything is made', (reason, given) => {
    const { create, status } = plan({ ...fresh, ...given })
    expect(create).toBeUndefined()
    expect(status).toMatchObject({ phase: 'Failed', cause: 'Refused', reason, settledAt: '2026-11-30T12:00:30Z' })
  })

  it('fails when the time of its step was up before', () => {
    const { create, status } = plan({ ...fresh, session: aSession({ spec: { timeoutSeconds: 30 } }) })
    expect(create).toBeUndefined()
    expect(status).toMatchObject({ phase: 'Failed', cause: 'Deadline', reason: 'DeadlineExceeded' })
  })
})

describe('the pod on record', () => {
  const jobOnly = { incarnation: { number: 0, job: name }, phase: 'Pending' } as const

  it('is the one that the Job controls', () => {
    expect(plan({ status: jobOnly }).status?.incarnation).toMatchObject({ pod: `${name}-abcde`, podUID: 'uid-of-pod' })
  })

  it.each([
    [
      'names another Job',
      { ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name, uid: 'other', controller: true }] },
    ],
    [
      'is owned but not controlled',
      { ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name, uid: 'uid-of-job' }] },
    ],
    ['has the labels alone', { ownerReferences: [] }],
    ['is being deleted', { deletionTimestamp: createdAt }],
  ])('is none that %s', (_, metadata) => {
    expect(plan({ status: jobOnly, pod: aPod({ metadata }) }).status?.incarnation).toEqual(jobOnly.incarnation)
  })

  it('is none that has no node yet: it must not get its input before', () => {
    const pod = aPod({ spec: { nodeName: undefined } as never })
    expect(plan({ status: jobOnly, pod }).status).toMatchObject({
      reason: 'PodPending',
      incarnation: jobOnly.incarnation,
    })
    expect(plan({ status: jobOnly, pod }).status?.incarnation?.podUID).toBeUndefined()
  })

  it('is none that borrows the owner reference but runs as another account', () => {
    const borrowed = aPod({ metadata: { name: 'x', uid: 'x' }, spec: { serviceAccountName: 'default' } })
    expect(plan({ status: jobOnly, pods: [borrowed, aPod()] }).status?.incarnation?.podUID).toBe('uid-of-pod')
    expect(plan({ status: jobOnly, pod: borrowed }).status?.incarnation?.podUID).toBeUndefined()
  })

  it('is none where two pass for it', () => {
    const twin = aPod({ metadata: { name: 'x', uid: 'x' } })
    const { status } = plan({ status: jobOnly, pods: [twin, aPod()] })
    expect(status).toMatchObject({ phase: 'Waiting', reason: 'PodNotUnique' })
    expect(status?.incarnation?.podUID).toBeUndefined()
  })

  it('stays on record when another appears', () => {
    const twin = aPod({ metadata: { name: 'x', uid: 'x' } })
    expect(plan({ pods: [twin] }).status?.incarnation).toEqual(recorded)
  })
})

describe('a run under way', () => {
  it('says when its command started', () => {
    const { status, events } = plan({ pod: aPod({ status: started({ running: { startedAt: createdAt } }) }) })
    expect(status).toMatchObject({ phase: 'Running', startedAt: createdAt, incarnation: { node: 'node-1' } })
    expect(conditionOf(status?.conditions, 'Started')).toMatchObject({ status: 'True' })
    expect(events?.map(({ reason }) => reason)).toEqual(['Started'])
  })

  it('looks again when its Job should be over, whether the Job controller works or not', () => {
    const pod = aPod({ status: started({ running: { startedAt: createdAt } }) })
    expect(plan({ pod }).after).toBe((3600 + 15 - 30) * 1000)
  })

  it('measures the patience with an image in a condition, which outlives a restart of the manager', () => {
    const pod = aPod({
      status: waitingFor({ name: 'agent', image: 'no:1', state: { waiting: { reason: 'ErrImagePull' } } }),
    })
    const first = plan({ pod })
    expect(first).toMatchObject({ after: 120_000, status: { phase: 'Waiting', reason: 'ImageUnavailable' } })
    const later = (seconds: number) => new Date(now.getTime() + seconds * 1000)
    expect(plan({ pod, status: first.status as RunStatus, now: later(119) })).toMatchObject({ after: 1000 })
    expect(plan({ pod, status: first.status as RunStatus, now: later(120) }).status).toMatchObject({
      phase: 'Failed',
      cause: 'Refused',
      reason: 'ImageUnavailable',
    })
  })
})

describe('[A-283] a run settles', () => {
  it('with success as soon as exit code and result are there', () => {
    const status: RunStatus = { incarnation: recorded, phase: 'Running', startedAt: createdAt, result }
    const planned = plan({ status, pod: aPod({ status: started(exited(0)) }) })
    expect(planned.status).toMatchObject({
      phase: 'Succeeded',
      exitCode: 0,
      output: result.output,
      startedAt: createdAt,
      settledAt: '2026-11-30T12:00:30Z',
      duration: '30s',
    })
    expect(conditionOf(planned.status?.conditions, 'Succeeded')).toMatchObject({ status: 'True', reason: 'Completed' })
    expect(planned.events).toMatchObject([{ type: 'Normal', reason: 'Completed' }])
  })

  it('with failure, its cause and exit code', () => {
    const { status, events } = plan({ pod: aPod({ status: started(exited(3)) }) })
    expect(status).toMatchObject({ phase: 'Failed', cause: 'Application', reason: 'CommandFailed', exitCode: 3 })
    expect(status).not.toHaveProperty('output')
    expect(conditionOf(status?.conditions, 'Succeeded')).toMatchObject({ status: 'False', reason: 'CommandFailed' })
    expect(events).toMatchObject([{ type: 'Warning', reason: 'CommandFailed' }])
  })

  it('as Indeterminate when its Job is complete without a result', () => {
    const pod = aPod({ status: started(exited(0), { phase: 'Succeeded' }) })
    const { status } = plan({ job: anEndedJob('Complete', 'CompletionsReached'), pod })
    expect(status).toMatchObject({ phase: 'Indeterminate', cause: 'Indeterminate', reason: 'ResultMissing' })
    expect(conditionOf(status?.conditions, 'Succeeded')?.status).toBe('Unknown')
  })
})

describe('[A-508] [A-513] a run that lost its pod', () => {
  it('is Indeterminate when its command had started and may not be repeated', () => {
    const { status, create } = plan({ pod: disruptedPod() })
    expect(create).toBeUndefined()
    expect(status).toMatchObject({ phase: 'Indeterminate', cause: 'Infrastructure', reason: 'Disrupted' })
    expect(status?.incarnation?.number).toBe(0)
  })

  it('fences the old pod before another Job is made, when it is repeat-safe', () => {
    const fence = plan({ pod: disruptedPod(), agentVersion: repeatSafe })
    const message = 'The pod was evicted from node node-1 on request, as kubectl drain and autoscalers do'
    const replaces = { node: 'node-1', reason: 'Disrupted', message }
    const next = { number: 1, job: jobName(aRun(), aSession(), 1), replaces }
    expect(fence.create).toBeUndefined()
    expect(fence.status).toMatchObject({ phase: 'Pending', reason: 'Restarting' })
    expect(fence.status?.incarnation).toEqual(next)
    expect(fence.status).not.toHaveProperty('startedAt')

    const made = plan({ status: fence.status as RunStatus, pod: null, agentVersion: repeatSafe })
    expect(made.create?.map(({ metadata }) => metadata.name)).toEqual([next.job])
    expect(made.status?.incarnation).toEqual(next)
  })

  it('goes on when its command had not started', () => {
    const pod = aPod({ status: { phase: 'Failed', reason: 'OutOfcpu' } })
    expect(plan({ pod }).status?.incarnation).toMatchObject({ number: 1 })
  })

  it('waits longer with each pod that it loses, and gives up after ten', () => {
    const lost = (number: number) => {
      const job = { ...anEndedJob('Failed', 'BackoffLimitExceeded') }
      job.status = { conditions: [{ type: 'Failed', status: 'True', lastTransitionTime: now.toISOString() }] }
      const pod = aPod({ status: { phase: 'Failed', reason: 'OutOfcpu' } })
      return plan({ job, pod, status: { incarnation: { ...recorded, number } } })
    }
    expect(lost(1)).toMatchObject({ after: 10_000, status: { phase: 'Waiting', incarnation: { number: 1 } } })
    expect(lost(2)).toMatchObject({ after: 20_000 })
    expect(lost(8)).toMatchObject({ after: 300_000 })
    expect(lost(9).status).toMatchObject({ phase: 'Failed', cause: 'Infrastructure', reason: 'TurnedAway' })
  })

  it('is not taken for done by what the lost pod reported while it was shut down', () => {
    const status: RunStatus = { incarnation: recorded, phase: 'Running', result }
    expect(plan({ status, pod: disruptedPod() }).status).toMatchObject({ phase: 'Indeterminate', reason: 'Disrupted' })
    const fence = plan({ status, pod: disruptedPod(), agentVersion: repeatSafe })
    expect(fence.status?.incarnation?.number).toBe(1)
  })

  it('takes the result of its newest pod alone', () => {
    const second = { ...recorded, number: 1 }
    const pod = aPod({ status: started(exited(0)) })
    const withResultOf = (incarnation: number): RunStatus => ({
      incarnation: second,
      result: { ...result, incarnation },
    })
    expect(plan({ status: withResultOf(0), pod }).status?.phase).toBe('Running')
    expect(plan({ status: withResultOf(1), pod }).status?.phase).toBe('Succeeded')
  })

  it('waits for the end of a pod that is shutting down', () => {
    expect(plan({ pod: disruptedPod('Running'), agentVersion: repeatSafe }).status).toMatchObject({
      phase: 'Running',
      incarnation: { number: 0 },
    })
  })
})

describe('what columns show of a pass that failed', () => {
  const condition = { type: 'Succeeded', message: 'why', lastTransitionTime: createdAt }

  it('is the reason of the condition', () => {
    const conditions = [{ ...condition, status: 'Unknown' as const, reason: 'QuotaExceeded' }]
    expect(summarizeRun({ phase: 'Pending', reason: 'PodPending', conditions })).toMatchObject({
      phase: 'Waiting',
      reason: 'QuotaExceeded',
      message: 'why',
    })
  })

  it('is a failure where nothing but people can help', () => {
    const conditions = [{ ...condition, status: 'False' as const, reason: 'NameConflict' }]
    expect(summarizeRun({ conditions })).toMatchObject({ phase: 'Failed', reason: 'NameConflict' })
  })

  it('is settled for good then, and nothing else is', () => {
    const failed = { ...condition, status: 'False' as const, reason: 'Invalid' }
    const refused = settleRefused({ run: aRun({ status: { conditions: [failed] } }), now })
    expect(refused?.status).toMatchObject({ phase: 'Failed', cause: 'Refused', reason: 'Invalid', duration: '30s' })
    const waiting = { ...failed, status: 'Unknown' as const }
    expect(settleRefused({ run: aRun({ status: { conditions: [waiting] } }), now })).toBeUndefined()
    expect(settleRefused({ run: aRun(), now })).toBeUndefined()
  })

  it('is left alone once the run has settled', () => {
    const settled = { phase: 'Succeeded', reason: 'Completed', settledAt: createdAt, conditions: [] } as const
    expect(summarizeRun({ ...settled, conditions: [] })).toEqual(settled)
  })
})
