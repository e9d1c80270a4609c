import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KubeClient } from '../../../src/kube/client.ts'
import { type Pod, podType } from '../../../src/kube/core-types.ts'
import { anEnvironment } from '../../kit/builders.ts'
import { eventually } from '../../kit/eventually.ts'
import type { Play } from '../../kit/kubelet.ts'
import { lintStatus } from '../../kit/lint-status.ts'
import { preparedClient, Workbench } from './workbench.ts'

let client: KubeClient
beforeAll(async () => {
  client = await preparedClient()
})
afterAll(() => client.transport.close())

/** A command that runs until its pod is ended. */
const untilEnded: Play['command'] = (_, signal) =>
  new Promise((end) => signal.addEventListener('abort', () => end({ exitCode: 143 })))

async function evict(pod: Pod): Promise<void> {
  const { name, namespace } = pod.metadata
  const path = `/api/v1/namespaces/${namespace}/pods/${name}/eviction`
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } }
  await client.transport.request({ method: 'POST', path, body })
}

describe('the pod on record', () => {
  it('is not one that somebody made with a borrowed owner reference', async () => {
    const bench = await Workbench.create(client)
    const manager = await bench.manager()
    const run = await bench.run()
    const [job] = await eventually(async () => {
      const jobs = await bench.jobs()
      return jobs.length === 1 && jobs
    })
    const { name, uid = '' } = job?.metadata ?? { name: '' }
    // Its labels are not those of the Job's selector, so that the Job controller does not count it either.
    const borrowed = await client.create<Pod>({
      apiVersion: podType.apiVersion,
      kind: podType.kind,
      metadata: {
        name: 'borrower',
        namespace: bench.namespace,
        labels: { 'graphwright.dev/run': run.metadata.name },
        ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name, uid, controller: true }],
      },
      spec: {
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: 1, seccompProfile: { type: 'RuntimeDefault' } },
        containers: [
          {
            name: 'agent',
            image: 'none',
            securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
          },
        ],
      },
    })
    await eventually(() => {
      expect(manager.read.byOwner(podType, uid).map(({ metadata }) => metadata.name)).toContain('borrower')
    })
    await bench.kubelet()
    const settled = await bench.settled(run)
    expect(settled.status?.phase).toBe('Succeeded')
    expect(settled.status?.incarnation?.pod).toMatch(name)
    expect(settled.status?.incarnation?.podUID).not.toBe(borrowed.metadata.uid)
  })
})

describe('[A-508] [A-513] a run whose pod is evicted', () => {
  it('is Indeterminate where its command had started, and no other pod is made', async () => {
    const bench = await Workbench.create(client)
    await bench.manager()
    const kubelet = await bench.kubelet(() => ({ command: untilEnded }))
    const run = await bench.until(await bench.run(), ({ status }) => status?.phase === 'Running')
    const [pod] = await bench.pods()
    await evict(pod as Pod)
    const settled = await bench.settled(run)
    expect(settled.status).toMatchObject({ phase: 'Indeterminate', cause: 'Infrastructure', reason: 'Disrupted' })
    expect(kubelet.placed).toHaveLength(1)
  })

  it('goes on with another pod where the agent may be repeated, and fences the old one', async () => {
    const bench = await Workbench.create(client)
    await bench.manager()
    let pods = 0
    const kubelet = await bench.kubelet(() => (pods++ === 0 ? { command: untilEnded } : {}))
    const run = await bench.run({ agent: { repeatSafe: true } })
    const first = await bench.until(run, ({ status }) => status?.phase === 'Running')
    const [pod] = await bench.pods()
    await evict(pod as Pod)

    const settled = await bench.settled(run)
    expect(settled.status).toMatchObject({ phase: 'Succeeded', output: { inline: 'done' }, incarnation: { number: 1 } })
    expect(settled.status?.result?.incarnation).toBe(1)
    expect(settled.status?.incarnation?.podUID).not.toBe(first.status?.incarnation?.podUID)
    expect(kubelet.placed).toHaveLength(2)
    expect(await bench.jobs()).toHaveLength(2)
  })

  it('goes on with another pod where its command had not started', async () => {
    const bench = await Workbench.create(client)
    await bench.manager()
    // Nobody places pods yet: the first one is evicted while it waits for a node.
    const run = await bench.until(await bench.run(), ({ status }) => status?.reason === 'Unschedulable')
    const [pod] = await bench.pods()
    await evict(pod as Pod)
    await bench.until(run, ({ status }) => status?.incarnation?.number === 1)
    await bench.kubelet()
    const settled = await bench.settled(run)
    expect(settled.status).toMatchObject({ phase: 'Succeeded', incarnation: { number: 1 } })
  })
})

describe('a run whose pod cannot be made', () => {
  it('waits for room in the quota, says so, and goes on when there is some', async () => {
    const bench = await Workbench.create(client)
    await bench.manager()
    await bench.kubelet()
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'team' }, spec: { hard: { pods: '0' } } }
    const path = `/api/v1/namespaces/${bench.namespace}/resourcequotas`
    await client.transport.request({ method: 'POST', path, body: quota })
    const run = await bench.run()
    const waiting = await bench.until(run, ({ status }) => status?.reason === 'QuotaExceeded')
    expect(waiting.status).toMatchObject({ phase: 'Waiting', message: expect.stringContaining('ResourceQuota team') })

    await client.transport.request({ method: 'DELETE', path: `${path}/team` })
    expect((await bench.settled(run, 40_000)).status?.phase).toBe('Succeeded')
  })

  it('waits for room for its Job as well', async () => {
    const bench = await Workbench.create(client)
    await bench.manager()
    await bench.kubelet()
    const hard = { 'count/jobs.batch': '0' }
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'team' }, spec: { hard } }
    const path = `/api/v1/namespaces/${bench.namespace}/resourcequotas`
    await client.transport.request({ method: 'POST', path, body: quota })
    const run = await bench.until(await bench.run(), ({ status }) => status?.reason === 'QuotaExceeded')
    expect(run.status).toMatchObject({ phase: 'Waiting', message: expect.stringContaining('ResourceQuota team') })
    expect(lintStatus(run)).toEqual([])
    await client.transport.request({ method: 'DELETE', path: `${path}/team` })
    expect((await bench.settled(run, 40_000)).status?.phase).toBe('Succeeded')
  })

  it('fails at once where its Job breaks a rule of the API server, in its words', async () => {
    const bench = await Workbench.create(client)
    await bench.manager()
    const environment = { ...anEnvironment().spec, tolerations: [{ operator: 'Sometimes' }] }
    const run = await bench.run({ session: { environment: { name: 'default', spec: environment } } })
    const failed = await bench.until(run, ({ status }) => status?.phase === 'Failed')
    expect(failed.status).toMatchObject({ reason: 'Invalid', message: expect.stringContaining('operator') })
    expect(lintStatus(failed)).toEqual([])
    expect(await bench.jobs()).toEqual([])
  })
})
