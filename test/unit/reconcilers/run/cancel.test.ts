import { describe, expect, it } from 'vitest'
import type { RunStatus } from '../../../../src/api/run.ts'
import type { Job, Pod } from '../../../../src/kube/core-types.ts'
import { deepFreeze } from '../../../../src/lib/readonly.ts'
import { decideCancel } from '../../../../src/reconcilers/run/cancel.ts'
import type { RunWorld } from '../../../../src/reconcilers/run/world.ts'
import { anAgentVersion, aRun, aSession, createdAt, inlineContent } from '../../../kit/builders.ts'
import { lintStatus } from '../../../kit/lint-status.ts'
import { aJob, anEndedJob, anIncarnation, aPod, exited, started } from '../../../kit/pods.ts'

const now = new Date('2026-11-30T12:00:30Z')
const cancelledAt = '2026-11-30T12:00:30.000Z'
const name = aJob().metadata.name
const incarnation = anIncarnation()
const result = { output: inlineContent('done'), incarnation: 0, reportedAt: createdAt }
const running = { running: { startedAt: createdAt } }
const underWay: RunStatus = { incarnation, phase: 'Running', reason: 'Running', startedAt: createdAt }
const told: RunStatus = { ...underWay, reason: 'Cancelling', cancelledAt }

interface Given extends Partial<RunWorld> {
  readonly status?: RunStatus | undefined
  readonly job?: Job | null
  readonly pod?: Pod | null
}

function decide({ status, job = aJob(), pod = aPod({ status: started(running) }), ...rest }: Given) {
  const run = aRun({ status })
  const world: RunWorld = {
    run,
    session: aSession(),
    agentVersion: anAgentVersion(),
    jobs: job === null ? [] : [job],
    pods: pod === null ? [] : [pod],
    refusal: undefined,
    now,
    ...rest,
  }
  const answer = decideCancel(deepFreeze(world) as RunWorld, 'wrong event')
  if (answer.status !== undefined) {
    expect(lintStatus({ ...run, status: { ...answer.status, observedGeneration: 1 } } as never)).toEqual([])
  }
  return answer
}

const deleting = aJob({ metadata: { deletionTimestamp: createdAt } })

describe('a run that is to end', () => {
  it('[A-290] ends at once where its pod was never made', () => {
    for (const status of [undefined, { incarnation: { number: 0, job: name }, phase: 'Pending' as const }]) {
      const { status: settled, delete: deleted } = decide({ status, job: null, pod: null })
      expect(settled).toMatchObject({
        phase: 'Cancelled',
        cause: 'Cancelled',
        reason: 'Cancelled',
        message: 'It was cancelled by request (wrong event) before its pod was made',
        settledAt: '2026-11-30T12:00:30Z',
      })
      expect(deleted).toBeUndefined()
    }
  })

  it('records that before its Job is deleted', () => {
    const first = decide({ status: underWay })
    expect(first.delete).toBeUndefined()
    expect(first.status).toMatchObject({ phase: 'Running', reason: 'Cancelling', cancelledAt, startedAt: createdAt })
    const second = decide({ status: first.status as RunStatus })
    expect(second.delete).toMatchObject([{ kind: 'Job', name, uid: 'uid-of-job' }])
    expect(second).toMatchObject({ status: first.status, after: 115_000 })
  })

  it('is over when its command is, though the sidecar is not', () => {
    const pod = aPod({ metadata: { deletionTimestamp: createdAt }, status: started(exited(143)) })
    const { status } = decide({ status: told, job: null, pod })
    expect(status).toMatchObject({
      phase: 'Cancelled',
      cause: 'Cancelled',
      exitCode: 143,
      cancelledAt,
      incarnation,
      message: 'It was cancelled by request (wrong event). What its command had done by then stays done',
    })
  })

  it('[A-291] waits for a command that does not listen, and says so when it cannot tell', () => {
    // To be gone when its grace period is over.
    const pod = aPod({ metadata: { deletionTimestamp: '2026-11-30T12:02:11Z' }, status: started(running) })
    const still = decide({ status: told, job: null, pod, now: new Date('2026-11-30T12:02:24Z') })
    expect(still).toMatchObject({ after: 1000, status: { phase: 'Running', reason: 'Cancelling' } })
    const { status } = decide({ status: told, job: null, pod, now: new Date('2026-11-30T12:02:25Z') })
    expect(status).toMatchObject({ phase: 'Cancelled', reason: 'CancelUnconfirmed', cause: 'Cancelled' })
  })

  it('is over when its pod is gone, and not before its Job is', () => {
    expect(decide({ status: told, job: aJob(), pod: null }).status?.phase).toBe('Running')
    expect(decide({ status: told, job: deleting, pod: null }).status?.phase).toBe('Cancelled')
    expect(decide({ status: told, job: null, pod: null }).status?.phase).toBe('Cancelled')
  })

  it('a result that was there before counts, though its exit code is still to come', () => {
    const reported = { ...underWay, result }
    const waiting = decide({ status: reported })
    expect(waiting.status).toMatchObject({ phase: 'Running', reason: 'Running' })
    expect(waiting.status?.cancelledAt).toBeUndefined()
    expect(waiting.delete).toBeUndefined()
    const { status } = decide({ status: reported, pod: aPod({ status: started(exited(0)) }) })
    expect(status).toMatchObject({ phase: 'Succeeded', output: inlineContent('done') })
  })

  it('a result that comes later does not', () => {
    const pod = aPod({ metadata: { deletionTimestamp: createdAt }, status: started(exited(0)) })
    const { status } = decide({ status: { ...told, result }, job: null, pod })
    expect(status).toMatchObject({ phase: 'Cancelled', exitCode: 0 })
    expect(status?.output).toBeUndefined()
  })

  it('a failure that came first is told as what it is', () => {
    const pod = aPod({ status: started(exited(3)) })
    const { status } = decide({ status: underWay, pod, job: anEndedJob('Failed', 'BackoffLimitExceeded') })
    expect(status).toMatchObject({ phase: 'Failed', cause: 'Application', reason: 'CommandFailed' })
  })

  it('[A-508] a pod that was lost before stays unknown, and none takes its place', () => {
    const status = { incarnation, phase: 'Running', startedAt: createdAt } as const
    const lost = { status, job: anEndedJob('Failed', 'BackoffLimitExceeded'), pod: null }
    expect(decide(lost).status).toMatchObject({ phase: 'Indeterminate', cause: 'Infrastructure' })
    const repeatSafe = decide({ ...lost, agentVersion: anAgentVersion({ spec: { repeatSafe: true } }) })
    expect(repeatSafe.status).toMatchObject({ phase: 'Running', reason: 'Cancelling', incarnation: { number: 0 } })
    expect(repeatSafe.create).toBeUndefined()
  })
})
