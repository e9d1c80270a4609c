import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Run } from '../../../src/api/run.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import { eventType } from '../../../src/kube/core-types.ts'
import { controllerOf } from '../../../src/lib/owner-references.ts'
import { eventually } from '../../kit/eventually.ts'
import type { Play } from '../../kit/kubelet.ts'
import { lintStatus } from '../../kit/lint-status.ts'
import { recordingRunner } from '../../kit/pod-runner.ts'
import { type Given, preparedClient, Workbench } from './workbench.ts'

let client: KubeClient
beforeAll(async () => {
  client = await preparedClient()
})
afterAll(() => client.transport.close())

/** A run in its own workspace, with a node on which this happens, once it has settled. */
async function settle(play: Play, given: Given = {}): Promise<{ bench: Workbench; run: Run }> {
  const bench = await Workbench.create(client)
  await bench.manager()
  await bench.kubelet(() => play)
  const run = await bench.settled(await bench.run(given))
  expect(lintStatus(run)).toEqual([])
  return { bench, run }
}

describe('a run', () => {
  it('[A-281] is one Job with one pod, which is on record, and settles with its output', async () => {
    const { bench, run } = await settle({})
    const [job, ...otherJobs] = await bench.jobs()
    const [pod, ...otherPods] = await bench.pods()
    expect([otherJobs, otherPods]).toEqual([[], []])
    expect(controllerOf(job ?? run)).toMatchObject({ kind: 'Run', uid: run.metadata.uid })
    expect(run.status).toMatchObject({
      phase: 'Succeeded',
      reason: 'Completed',
      exitCode: 0,
      output: { inline: 'done', size: 4 },
      incarnation: {
        number: 0,
        job: job?.metadata.name,
        jobUID: job?.metadata.uid,
        pod: pod?.metadata.name,
        podUID: pod?.metadata.uid,
        node: pod?.spec.nodeName,
      },
    })
    expect(run.status?.startedAt).toBeDefined()
    expect(run.status?.duration).toMatch(/^\d+s$/)
  })

  it('settles when exit code and result are there, not when the pod is gone', async () => {
    const bench = await Workbench.create(client)
    await bench.manager()
    const recording = recordingRunner(client)
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const slowToEnd = {
      ...recording,
      report: async (...args: Parameters<typeof recording.report>) => {
        await recording.report(...args)
        await held
      },
    }
    await bench.kubelet(() => ({}), slowToEnd)
    const run = await bench.settled(await bench.run())
    expect(run.status?.phase).toBe('Succeeded')
    expect((await bench.pods()).map(({ status }) => status?.phase)).toEqual(['Running'])
    release()
  })

  it('tells its story in events', async () => {
    const { bench, run } = await settle({ command: () => ({ exitCode: 3 }) })
    await eventually(async () => {
      const { items } = await client.list(eventType, { namespace: bench.namespace })
      const reasons = items.filter(({ regarding }) => regarding?.uid === run.metadata.uid).map(({ reason }) => reason)
      expect(reasons).toEqual(expect.arrayContaining(['JobCreated', 'CommandFailed']))
    })
  })

  it('goes with its Session, and its Job and pod with it', async () => {
    const bench = await Workbench.create(client)
    await bench.manager()
    await bench.kubelet(() => ({
      command: (_, signal) => new Promise((end) => signal.addEventListener('abort', () => end({ exitCode: 143 }))),
    }))
    const run = await bench.until(await bench.run(), ({ status }) => status?.phase === 'Running')
    await client.delete({
      apiVersion: run.apiVersion,
      kind: 'Session',
      namespace: bench.namespace,
      name: run.spec.session.name,
    })
    // The garbage collector looks for new kinds every 30 seconds.
    await eventually(async () => expect([await bench.jobs(), await bench.pods()]).toEqual([[], []]), {
      timeout: 45_000,
    })
  })
})

describe('why a run failed is in its columns', () => {
  it.each<[string, Play, Given, Partial<NonNullable<Run['status']>>]>([
    [
      'a failed command',
      { command: () => ({ exitCode: 3 }) },
      {},
      { cause: 'Application', reason: 'CommandFailed', exitCode: 3 },
    ],
    [
      'out of memory',
      { command: () => ({ exitCode: 137, reason: 'OOMKilled' }) },
      {},
      { cause: 'Resource', reason: 'OOMKilled', exitCode: 137 },
    ],
    [
      'an image that nobody can pull',
      { stuck: { reason: 'InvalidImageName', message: 'couldn’t parse image name' } },
      {},
      { cause: 'Refused', reason: 'ImageUnavailable' },
    ],
    [
      'a network that does not isolate',
      { input: { exitCode: 86 } },
      {},
      { cause: 'Refused', reason: 'NetworkNotIsolated' },
    ],
    [
      'a deadline',
      { command: (_, signal) => new Promise((end) => signal.addEventListener('abort', () => end({ exitCode: 143 }))) },
      { session: { timeoutSeconds: 2 } },
      { cause: 'Deadline', reason: 'DeadlineExceeded' },
    ],
    ['no image at all', {}, { environment: { image: undefined } }, { cause: 'Refused', reason: 'ImageMissing' }],
  ])('%s', async (_, play, given, status) => {
    const { bench, run } = await settle(play, given)
    expect(run.status).toMatchObject({ phase: 'Failed', ...status })
    await eventually(
      async () => {
        const jobs = await bench.jobs()
        expect(jobs.every(({ status }) => status?.conditions?.some(({ type }) => type === 'Failed') ?? false)).toBe(
          true,
        )
      },
      { timeout: 20_000 },
    )
  })
})
