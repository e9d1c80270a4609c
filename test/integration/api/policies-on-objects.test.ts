import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { podType } from '../../../src/kube/core-types.ts'
import { isNotFound } from '../../../src/kube/error.ts'
import type { JsonObject } from '../../../src/lib/json.ts'
import type { KubeObject, ObjectRef } from '../../../src/lib/object.ts'
import { eventually } from '../../kit/eventually.ts'
import {
  administrator,
  gateway,
  type InstalledCluster,
  manager,
  refused,
  startInstalledCluster,
  workload,
} from '../../kit/installed-cluster.ts'
import { sampleOf } from '../../kit/samples.ts'

let cluster: InstalledCluster
const namespace = 'workspace'
const api = 'graphwright.dev/v1alpha1'

// The garbage collector looks for new kinds every 30 seconds: the first deletion may have to wait for it.
const collected = { timeout: 60_000 }

beforeAll(async () => {
  cluster = await startInstalledCluster()
  await cluster.workspace(namespace)
  for (const name of ['graphwright-runner', 'other']) {
    await cluster.as(administrator).create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } })
  }
}, 180_000)

afterAll(() => cluster?.stop())

function refTo(kind: string, name: string): ObjectRef {
  return { apiVersion: api, kind, namespace, name }
}

/** A graph and the Automation that the operator made for it, both of that name. */
async function graphWithAutomation(name: string): Promise<{ graph: ObjectRef; automation: ObjectRef }> {
  const metadata = { name, namespace }
  const graph = await cluster.as('amy').create<KubeObject>({ ...sampleOf('AutomationGraph'), metadata })
  const owner = { apiVersion: api, kind: 'AutomationGraph', name, uid: graph.metadata.uid ?? '' }
  const ownerReferences = [{ ...owner, controller: true, blockOwnerDeletion: true }]
  const labels = { 'graphwright.dev/graph': name }
  const automation = { ...sampleOf('Automation'), metadata: { ...metadata, ownerReferences, labels } }
  await cluster.as(manager).create(automation)
  return { graph: refTo('AutomationGraph', name), automation: refTo('Automation', name) }
}

function change(user: string, ref: ObjectRef, patch: JsonObject): Promise<KubeObject> {
  return cluster.as(user).mergePatch(ref, patch)
}

async function exists(ref: ObjectRef): Promise<KubeObject | undefined> {
  const client = cluster.as(administrator)
  try {
    return await client.get(client.typeOf(ref.apiVersion, ref.kind), ref)
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

describe('graph-owned', () => {
  const belongs = 'of its spec only paused may be changed here: change the graph and approve its plan'

  it('people pause and resume what a graph owns [A-044]', async () => {
    const { automation } = await graphWithAutomation('paused')
    expect(await change('alice', automation, { spec: { paused: true } })).toMatchObject({ spec: { paused: true } })
    expect(await change('alice', automation, { spec: { paused: null } })).not.toHaveProperty('spec.paused')
  })

  it.each([
    ['a changed value', { environment: 'other' }],
    ['a field more', { jitterSeconds: 5 }],
    ['a field less', { missedOccurrences: null }],
    ['another target', { target: { agent: { prompt: 'Obey.' } } }],
    ['a change beside paused', { paused: true, environment: 'other' }],
  ] as [string, JsonObject][])('refuses %s', async (title, spec) => {
    const { automation } = await graphWithAutomation(`owned-${title.replaceAll(' ', '-')}`)
    for (const user of ['alice', 'mallory']) {
      await expect(change(user, automation, { spec })).rejects.toThrow(belongs)
    }
    expect(await change(manager, automation, { spec })).toMatchObject({ kind: 'Automation' })
  })

  it('is not passed by removing the label first', async () => {
    const { automation } = await graphWithAutomation('unlabelled')
    await change('mallory', automation, { metadata: { labels: null } })
    await expect(change('mallory', automation, { spec: { environment: 'other' } })).rejects.toThrow(belongs)
  })

  it('is not passed by removing or replacing the owner reference first', async () => {
    const { automation } = await graphWithAutomation('disowned')
    const other = [{ apiVersion: api, kind: 'AutomationGraph', name: 'other', uid: 'other', controller: true }]
    for (const ownerReferences of [null, [], other]) {
      await expect(change('mallory', automation, { metadata: { ownerReferences } })).rejects.toThrow(
        'to keep this one without its graph: kubectl delete automationgraph disowned --cascade=orphan',
      )
    }
  })

  it('nobody passes an Automation off as a graph’s', async () => {
    const { graph } = await graphWithAutomation('genuine')
    const uid = (await exists(graph))?.metadata.uid ?? ''
    const owner = { apiVersion: api, kind: 'AutomationGraph', name: 'genuine', uid, controller: true }
    const metadata = { name: 'forged', namespace, ownerReferences: [owner] }
    const { message } = await refused(cluster, 'mallory', { ...sampleOf('Automation'), metadata })
    expect(message).toContain('only the operator makes an Automation a part of an AutomationGraph')
  })

  it('nobody but a graph names a program', async () => {
    const program = { name: 'forged', digest: `sha256:${'0'.repeat(64)}` }
    const metadata = { name: 'programmed', namespace }
    const object = {
      ...sampleOf('Automation'),
      metadata,
      spec: { ...sampleOf('Automation').spec, target: { program } },
    }
    expect((await refused(cluster, 'mallory', object as KubeObject)).message).toContain(
      'only a graph sets target.program',
    )
  })

  it('a break-glass group may change it all the same', async () => {
    const { automation } = await graphWithAutomation('emergency')
    const changed = await change(administrator, automation, { spec: { environment: 'other' } })
    expect(changed).toMatchObject({ spec: { environment: 'other' } })
  })

  it('leaves an Automation written by hand to its writers', async () => {
    await cluster.as('amy').create({ ...sampleOf('Automation'), metadata: { name: 'direct', namespace } })
    const changed = await change('alice', refTo('Automation', 'direct'), { spec: { environment: 'other' } })
    expect(changed).toMatchObject({ spec: { environment: 'other' } })
  })
})

describe('runner-pods', () => {
  const workloads = ['Pod', 'PodTemplate', 'Job', 'CronJob', 'ReplicaSet', 'Deployment']
  const place = { name: 'intruder', namespace }

  it.each(workloads)(
    'an attacker, the administrator and the gateway make no %s that runs as a runner',
    async (kind) => {
      for (const user of ['mallory', administrator]) {
        const { message } = await refused(cluster, user, workload(kind, 'graphwright-runner', place))
        expect(message).toContain('the ServiceAccount graphwright-runner is for the pods of Runs')
        const other = await cluster.as(user).create(workload(kind, 'other', place), { dryRun: true })
        expect(other.kind).toBe(kind)
      }
      await expect(cluster.as(gateway).create(workload(kind, 'graphwright-runner', place))).rejects.toMatchObject({
        status: 403,
      })
    },
  )

  it('is not passed by the old name of the field', async () => {
    const pod = workload('Pod', 'other', place) as KubeObject & { spec: Record<string, unknown> }
    const { serviceAccountName, ...spec } = pod.spec
    const object = { ...pod, spec: { ...spec, serviceAccount: 'graphwright-runner' } } as KubeObject
    expect((await refused(cluster, 'mallory', object)).message).toContain('graphwright-runner is for the pods of Runs')
  })

  it('is not passed by changing a workload later', async () => {
    await cluster.as('mallory').create(workload('Deployment', 'other', { name: 'later', namespace }))
    const ref = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'later', namespace }
    const spec = {
      template: { spec: { serviceAccountName: 'graphwright-runner', serviceAccount: 'graphwright-runner' } },
    }
    await expect(change('mallory', ref, { spec })).rejects.toThrow('graphwright-runner is for the pods of Runs')
  })

  it('a pod with a borrowed owner reference is refused', async () => {
    const job = await cluster.as(manager).create(workload('Job', 'graphwright-runner', { name: 'lender', namespace }))
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'lender', uid: job.metadata.uid ?? '', controller: true }
    const pod = workload('Pod', 'graphwright-runner', { ...place, ownerReferences: [owner] })
    expect((await refused(cluster, 'mallory', pod)).message).toContain('graphwright-runner is for the pods of Runs')
  })

  it('the manager makes Jobs, and Kubernetes makes their pods', async () => {
    const job = await cluster.as(manager).create(workload('Job', 'graphwright-runner', { name: 'genuine', namespace }))
    const pods = await eventually(async () => {
      const { items } = await cluster.as(administrator).list(podType, {
        namespace,
        labelSelector: `batch.kubernetes.io/controller-uid=${job.metadata.uid}`,
      })
      return items.length > 0 ? items : false
    })
    expect(pods[0]?.spec.serviceAccountName).toBe('graphwright-runner')
  })

  it('a Job may be deleted in the foreground, which changes it', { timeout: 150_000 }, async () => {
    const metadata = { name: 'done', namespace }
    await cluster.as(manager).create(workload('Job', 'graphwright-runner', metadata))
    const ref = { apiVersion: 'batch/v1', kind: 'Job', ...metadata }
    await cluster.as(manager).delete(ref, { propagation: 'Foreground' })
    await eventually(async () => (await exists(ref)) === undefined, collected)
  })

  it('the manager makes no pods by itself', async () => {
    await expect(cluster.as(manager).create(workload('Pod', 'graphwright-runner', place))).rejects.toMatchObject({
      status: 403,
    })
  })
})

describe('deleting a graph under the policies', { timeout: 150_000 }, () => {
  it('in the foreground takes its Automation with it', async () => {
    const { graph, automation } = await graphWithAutomation('foreground')
    await cluster.as('alice').delete(graph, { propagation: 'Foreground' })
    await eventually(async () => (await exists(automation)) === undefined, collected)
    await eventually(async () => (await exists(graph)) === undefined, collected)
  })

  it('in the background does so too', async () => {
    const { graph, automation } = await graphWithAutomation('background')
    await cluster.as('alice').delete(graph)
    await eventually(async () => (await exists(automation)) === undefined, collected)
  })

  it('with orphaning leaves the Automation to its writers', async () => {
    const { graph, automation } = await graphWithAutomation('orphan')
    await cluster.as('alice').delete(graph, { propagation: 'Orphan' })
    await eventually(async () => (await exists(graph)) === undefined, collected)
    expect((await exists(automation))?.metadata).not.toHaveProperty('ownerReferences')
    const changed = await change('alice', automation, { spec: { environment: 'other' } })
    expect(changed).toMatchObject({ spec: { environment: 'other' } })
  })
})
