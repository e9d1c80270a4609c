import { describe, expect, it } from 'vitest'
import type { RunStatus } from '../../../../src/api/run.ts'
import { type Job, jobType, type Pod } from '../../../../src/kube/core-types.ts'
import { digestBytes } from '../../../../src/lib/digest.ts'
import { refOf } from '../../../../src/lib/object.ts'
import { controllerOf } from '../../../../src/lib/owner-references.ts'
import { deepFreeze } from '../../../../src/lib/readonly.ts'
import { afterSettlement, withLogs } from '../../../../src/reconcilers/run/settled.ts'
import type { ContentStore } from '../../../../src/runtime/content-store.ts'
import type { ReconcileContext } from '../../../../src/runtime/controller.ts'
import { silentLogger } from '../../../../src/runtime/log.ts'
import type { ReconcileResult } from '../../../../src/runtime/result.ts'
import { aRun, createdAt, inlineContent } from '../../../kit/builders.ts'
import { aJob, anEndedJob, aPod, exited, started, waitingFor } from '../../../kit/pods.ts'

const incarnation = {
  number: 0,
  job: aJob().metadata.name,
  jobUID: 'uid-of-job',
  pod: aPod().metadata.name,
  podUID: 'uid-of-pod',
}
const log = 'a line that the command wrote\n'

/** The pass of a settled run in a world of these Jobs and pods, whose nodes answer with this log. */
function pass(
  phase: 'Succeeded' | 'Failed',
  { jobs = [aJob()], pods = [], logs = async () => log }: World,
  status: RunStatus = {},
) {
  const run = aRun({ status: { phase, settledAt: createdAt, incarnation, ...status } })
  return afterSettlement(deepFreeze(run), world({ jobs, pods, logs }), memory)
}

interface World {
  readonly jobs?: Job[]
  readonly pods?: Pod[]
  readonly logs?: () => Promise<string>
}

function world({ jobs = [aJob()], pods = [], logs = async () => log }: World): ReconcileContext {
  const read = {
    get: (_: unknown, key: string) => pods.find(({ metadata }) => key === `default/${metadata.name}`),
    byOwner: (_: unknown, uid: string) => [...jobs, ...pods].filter((one) => controllerOf(one)?.uid === uid),
  }
  const live = { logs }
  const context = { read, live, log: silentLogger, now: new Date(createdAt), signal: new AbortController().signal }
  return context as unknown as ReconcileContext
}

const memory: ContentStore = {
  put: async (text) => inlineContent(text),
  get: () => Promise.reject(new Error('nothing is read')),
}

const kept = { digest: digestBytes(log), size: Buffer.byteLength(log) }
const ended = aPod({ status: started(exited(3)) })
const stuck = aPod({ status: waitingFor({ name: 'agent', state: { waiting: { reason: 'ErrImagePull' } } }) })
const running = aPod({ status: started({ running: { startedAt: createdAt } }) })

describe('the log of a settled run', () => {
  it('is kept by digest, and never inline', async () => {
    const { status } = await pass('Failed', { pods: [ended] }, { reason: 'CommandFailed' })
    expect(status).toMatchObject({ phase: 'Failed', reason: 'CommandFailed', settledAt: createdAt })
    expect(status?.logs).toEqual(kept)
  })

  it('is kept once', async () => {
    expect(await pass('Failed', { pods: [ended] }, { logs: kept })).toEqual({ delete: [] })
  })

  it('is tried again while the pod is there', async () => {
    const refused = () => Promise.reject(new Error('the node does not answer'))
    expect(await pass('Failed', { pods: [ended], logs: refused })).toEqual({ delete: [], after: 15_000 })
    expect(await pass('Failed', { pods: [], jobs: [], logs: refused })).toEqual({ delete: [] })
  })

  it('is not that of another pod of the same name', async () => {
    const other = aPod({ metadata: { uid: 'other' }, status: started(exited(3)) })
    expect((await pass('Failed', { pods: [other] })).status).toBeUndefined()
  })

  it('is taken before the pod is ended', async () => {
    const planned = await pass('Failed', { pods: [running] })
    expect(planned.status?.logs).toEqual(kept)
    expect(planned.delete).toMatchObject([{ kind: 'Job', uid: 'uid-of-job' }])
  })
})

describe('the log of a run that is cancelled', () => {
  const status: RunStatus = { phase: 'Running', reason: 'Cancelling', incarnation }
  const settled: RunStatus = { ...status, phase: 'Cancelled', settledAt: createdAt }
  const told = { status, delete: [refOf({ ...jobType, metadata: aJob().metadata })] }
  const keep = (result: ReconcileResult<RunStatus>, given: World) =>
    withLogs(deepFreeze(aRun({ status })), result, world(given), memory)

  it('is kept before its pod is told to end, and once more when it has', async () => {
    expect(await keep(told, { pods: [running] })).toEqual({ ...told, status: { ...status, logs: kept } })
    expect((await keep({ status: settled }, { pods: [ended] })).status).toEqual({ ...settled, logs: kept })
  })

  it('is not asked for while it ends, nor where nothing has run', async () => {
    const logs = () => Promise.reject(new Error('nobody asks'))
    expect(await keep({ status, delete: [] }, { pods: [running], logs })).toEqual({ status, delete: [] })
    expect(await keep(told, { pods: [stuck], logs })).toBe(told)
  })

  it('stays as it was where the pod is gone, and keeps nobody from ending', async () => {
    expect(await keep({ status: { ...settled, logs: kept } }, {})).toEqual({ status: { ...settled, logs: kept } })
    const logs = () => Promise.reject(new Error('the node does not answer'))
    expect(await keep(told, { pods: [running], logs })).toBe(told)
  })
})

describe('the Job of a settled run', () => {
  it.each<[string, 'Succeeded' | 'Failed', Job[], Pod[], string[]]>([
    ['goes when its pod would wait for ever', 'Failed', [aJob()], [stuck], ['uid-of-job']],
    ['goes when it never got a pod', 'Failed', [aJob()], [], ['uid-of-job']],
    ['stays when its command has ended', 'Failed', [aJob()], [ended], []],
    ['stays when it succeeded, until it has ended by itself', 'Succeeded', [aJob()], [running], []],
    ['stays when it has ended', 'Failed', [anEndedJob('Failed', 'BackoffLimitExceeded')], [], []],
    ['goes when it is not on record', 'Succeeded', [aJob({ metadata: { uid: 'stray' } })], [], ['stray']],
  ])('%s', async (_, phase, jobs, pods, gone) => {
    const planned = await pass(phase, { jobs, pods })
    expect(planned.delete?.map(({ uid }) => uid)).toEqual(gone)
  })
})
