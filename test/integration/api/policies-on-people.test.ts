import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { kinds } from '../../../src/api/kinds.ts'
import { isForbidden } from '../../../src/kube/error.ts'
import type { JsonObject } from '../../../src/lib/json.ts'
import type { KubeObject, ObjectRef } from '../../../src/lib/object.ts'
import { eventually } from '../../kit/eventually.ts'
import {
  administrator,
  gateway,
  grant,
  type InstalledCluster,
  manager,
  mustFail,
  patchStatus,
  refused,
  startInstalledCluster,
} from '../../kit/installed-cluster.ts'
import { sampleOf } from '../../kit/samples.ts'

let cluster: InstalledCluster
const namespace = 'workspace'

beforeAll(async () => {
  cluster = await startInstalledCluster()
  await cluster.workspace(namespace)
}, 180_000)

afterAll(() => cluster?.stop())

function refTo(kind: string, name: string): ObjectRef {
  return { apiVersion: 'graphwright.dev/v1alpha1', kind, namespace, name }
}

/** The sample of a kind in the workspace, with another spec where one is given. */
function sample(kind: string, name: string, spec: Record<string, unknown> = {}): KubeObject {
  const object = sampleOf(kind)
  return { ...object, metadata: { name, namespace }, spec: { ...object.spec, ...spec } } as KubeObject
}

function firing(user: string, spec: Record<string, unknown> = {}, name = 'greet-manual-1'): KubeObject {
  return sample('AutomationFiring', name, { requestedBy: user, ...spec })
}

describe('internal-kinds', () => {
  const internal = ['AutomationGraphPlan', 'AutomationProgram', 'AgentVersion', 'Session', 'Run']

  it.each(internal)('the operator creates a %s, an attacker and the administrator do not', async (kind) => {
    for (const user of ['mallory', administrator]) {
      const { status, message } = await refused(cluster, user, sample(kind, 'forged'))
      expect(status).toBe(403)
      expect(message).toMatch(new RegExp(`only the operator creates ${kind} objects; (change|approve|fire) `))
    }
    const created = await cluster.as(manager).create(sample(kind, `made-${kind.toLowerCase()}`))
    expect(created.kind).toBe(kind)
  })

  it('an attacker changes no plan, neither before nor after its approval [A-148]', async () => {
    await cluster.as(manager).create(sample('AutomationGraphPlan', 'changed-1'))
    const change = cluster
      .as('mallory')
      .mergePatch(refTo('AutomationGraphPlan', 'changed-1'), { spec: { content: { revision: 7 } } })
    await expect(change).rejects.toThrow('a plan is immutable')
  })

  it('an approver approves as herself', async () => {
    const plan = sampleOf('AutomationGraphPlan').spec as { content: { digest: string } }
    await cluster.as(manager).create(sample('AutomationGraphPlan', 'approved-1'))
    const ref = refTo('AutomationGraphPlan', 'approved-1')
    const approval = { digest: plan.content.digest, by: 'alice' }
    await expect(cluster.as('amy').mergePatch(ref, { spec: { approval } })).rejects.toThrow(
      'approval.by must be your own user name, amy; approve with: graphwright approve plan/approved-1',
    )
    const approved = await cluster.as('amy').mergePatch(ref, { spec: { approval: { ...approval, by: 'amy' } } })
    expect(approved).toMatchObject({ spec: { approval: { by: 'amy' } } })
  })

  it('people fire by hand, as themselves', async () => {
    const created = await cluster
      .as('alice')
      .create(firing('alice', {}, ''), { dryRun: true })
      .catch(String)
    expect(created).toContain('name or generateName is required')
    const metadata = { name: '', generateName: 'greet-manual-', namespace }
    expect(await cluster.as('alice').create({ ...firing('alice'), metadata })).toMatchObject({
      kind: 'AutomationFiring',
    })
  })

  it.each([
    ['in the name of another', { requestedBy: 'amy' }, 'requestedBy must be your own user name, alice'],
    ['in the name of the operator', { requestedBy: manager }, 'requestedBy must be your own user name, alice'],
    ['as a schedule', { trigger: 'schedule' }, 'people fire by hand: set spec.trigger to manual'],
    ['as an event', { trigger: 'event' }, 'only the operator makes event firings'],
  ])('nobody fires %s', async (_, spec, message) => {
    expect((await refused(cluster, 'alice', firing('alice', spec))).message).toContain(message)
  })

  it.each([
    'greet-20261130t120000z-abcdefghijklmnopqrstuvwxyz',
    'greet-event-abcdefghijklmnopqrstuvwxyz',
    'greet-manually-abc',
    'greet-manual-a-b',
    'greet-manual-abcdefghijklmnopqrstuvwxyza',
  ])('nobody takes the name %s of another occurrence', async (name) => {
    const { message } = await refused(cluster, 'mallory', firing('mallory', {}, name))
    expect(message).toContain('use generateName: greet-on-monday-manual-')
  })

  it('[A-290] whoever may change firings has one cancelled, and whoever may not does not', async () => {
    await cluster.as('alice').create(firing('alice', {}, 'greet-manual-cancelled'))
    const ref = refTo('AutomationFiring', 'greet-manual-cancelled')
    const patch = { metadata: { annotations: { 'graphwright.dev/cancel-requested': 'wrong event' } } }
    await expect(cluster.as('bob').mergePatch(ref, patch)).rejects.toSatisfy(isForbidden)
    expect(await cluster.as('alice').mergePatch(ref, patch)).toMatchObject(patch)
    // The operator hands it down, and is the only one who may.
    for (const kind of ['Session', 'Run']) {
      await expect(cluster.as('alice').mergePatch(refTo(kind, 'any'), patch)).rejects.toSatisfy(isForbidden)
    }
  })

  it('[N-023] the operator fires for schedules and events', async () => {
    const scheduled = { trigger: 'schedule', occurrence: '2026-11-30T12:00:00Z', requestedBy: manager }
    const name = 'greet-20261130t120000z-abcdefghijklmnopqrstuvwxyz'
    expect(await cluster.as(manager).create(firing(manager, scheduled, name))).toMatchObject({ spec: scheduled })
  })

  it('a change that leaves spec alone is nobody’s business', async () => {
    const plan = sampleOf('AutomationGraphPlan').spec as { content: { digest: string } }
    await cluster.as(manager).create(sample('AutomationGraphPlan', 'labelled-1'))
    const ref = refTo('AutomationGraphPlan', 'labelled-1')
    await cluster.as('amy').mergePatch(ref, { spec: { approval: { digest: plan.content.digest, by: 'amy' } } })
    const metadata = { labels: { team: 'operations' } }
    expect(await cluster.as('bob').mergePatch(ref, { metadata })).toMatchObject({ metadata })
  })
})

/** What never changes has nothing to tell, and the operator no right to tell it. */
const unchanging = ['AutomationProgram', 'AgentVersion']

describe('status-writers', () => {
  /** Returns the object, of which nobody but the operator may write the status. */
  async function guarded(kind: string): Promise<ReturnType<typeof refTo>> {
    const name = `status-${kind === 'AutomationFiring' ? 'manual-1' : kind.toLowerCase()}`
    const ref = refTo(kind, name)
    await cluster
      .as(manager)
      .create(sample(kind, name))
      .catch(() => cluster.as(administrator).create(sample(kind, name)))
    for (const user of ['mallory', administrator]) {
      const { message } = await mustFail(patchStatus(cluster.as(user), ref, { observedGeneration: 1 }))
      expect(message).toContain(`only the operator writes the status of ${kind} objects; change spec`)
    }
    return ref
  }

  const told = kinds.map(({ kind }) => kind).filter((kind) => !unchanging.includes(kind))
  it.each(told)('[A-160] the operator writes the status of %s, nobody else does', async (kind) => {
    const written = await patchStatus(cluster.as(manager), await guarded(kind), { observedGeneration: 1 })
    expect(written).toMatchObject({ status: { observedGeneration: 1 } })
  })

  it.each(unchanging)('[A-160] nobody writes the status of %s', async (kind) => {
    const { message } = await mustFail(patchStatus(cluster.as(manager), await guarded(kind), { observedGeneration: 1 }))
    expect(message).toContain('cannot patch resource')
  })

  it('the gateway writes the status of a run', async () => {
    await cluster.as(manager).create(sample('Run', 'reported'))
    const written = await patchStatus(cluster.as(gateway), refTo('Run', 'reported'), { usage: { tokens: 1 } })
    expect(written).toMatchObject({ status: { usage: { tokens: 1 } } })
  })

  it('an attacker does not create an object with a status', async () => {
    const object = { ...sample('Environment', 'born-ready'), status: { observedGeneration: 1 } }
    expect(await cluster.as('mallory').create(object)).not.toHaveProperty('status')
  })
})

describe('references', () => {
  const noUse = 'acting as the ServiceAccount greeter needs the verb use on it'

  it.each(['AutomationGraph', 'Automation'])('naming a ServiceAccount in a %s needs use on it', async (kind) => {
    const admin = cluster.as(administrator)
    const rules = [{ apiGroups: ['graphwright.dev'], resources: ['automations'], verbs: ['create'] }]
    await grant(admin, namespace, 'bob', kind === 'Automation' ? rules : [])
    await eventually(async () => (await refused(cluster, 'bob', sample(kind, 'bobs'))).message.includes(noUse))
    expect(await cluster.as('amy').create(sample(kind, 'amys'), { dryRun: true })).toMatchObject({ kind })
  })

  it('follows a Role as it changes, name by name', async () => {
    const other = sample('AutomationGraph', 'bobs-other', { serviceAccountName: 'other' })
    await grant(cluster.as(administrator), namespace, 'bob', [
      { apiGroups: [''], resources: ['serviceaccounts'], resourceNames: ['other'], verbs: ['use'] },
    ])
    await eventually(() => cluster.as('bob').create(other, { dryRun: true }))
    expect((await refused(cluster, 'bob', sample('AutomationGraph', 'bobs'))).message).toContain(noUse)
  })

  it('naming pull secrets needs get on each of them', async () => {
    const imagePullSecrets = Array.from({ length: 8 }, (_, index) => `registry-${index}`)
    const environment = sample('Environment', 'private', { imagePullSecrets })
    expect((await refused(cluster, 'bob', environment)).message).toContain(
      'naming the Secret registry-0 in imagePullSecrets needs the verb get on it',
    )
    const resourceNames = imagePullSecrets.slice(0, 7)
    const rule = { apiGroups: [''], resources: ['secrets'], resourceNames, verbs: ['get'] }
    await grant(cluster.as(administrator), namespace, 'bob', [rule])
    await eventually(async () => (await refused(cluster, 'bob', environment)).message.includes('registry-7'))
    const seven = sample('Environment', 'private', { imagePullSecrets: resourceNames })
    expect(await cluster.as('bob').create(seven)).toMatchObject({ kind: 'Environment' })
    const more = { spec: { imagePullSecrets: [...resourceNames, 'registry-7'] } }
    await expect(cluster.as('bob').mergePatch(refTo('Environment', 'private'), more)).rejects.toThrow('registry-7')
    expect(await cluster.as('alice').create({ ...environment, metadata: { name: 'all', namespace } })).toMatchObject({
      spec: { imagePullSecrets },
    })
  })

  it('approving needs permission to create automations', async () => {
    const plan = sampleOf('AutomationGraphPlan').spec as { content: { digest: string } }
    await cluster.as(manager).create(sample('AutomationGraphPlan', 'reviewed-1'))
    const ref = refTo('AutomationGraphPlan', 'reviewed-1')
    const approval = (by: string): JsonObject => ({ spec: { approval: { digest: plan.content.digest, by } } })
    await cluster.workspace('other-workspace')
    await cluster.as(manager).create({
      ...sample('AutomationGraphPlan', 'reviewed-1'),
      metadata: { name: 'reviewed-1', namespace: 'other-workspace' },
    })
    const elsewhere = { ...ref, namespace: 'other-workspace' }
    await expect(cluster.as('bob').mergePatch(elsewhere, approval('bob'))).rejects.toThrow(
      'approving a plan needs permission to create automations in this namespace',
    )
    await expect(cluster.as('alice').mergePatch(ref, approval('alice'))).rejects.toMatchObject({ status: 403 })
    expect(await cluster.as('amy').mergePatch(ref, approval('amy'))).toMatchObject({ kind: 'AutomationGraphPlan' })
  })

  it('applyPolicy Automatic needs permission to create automations', async () => {
    const automatic = sample('AutomationGraph', 'automatic', { applyPolicy: 'Automatic' })
    const denied = 'applyPolicy Automatic approves every plan of the graph'
    expect((await refused(cluster, 'alice', automatic)).message).toContain(denied)
    await cluster.as('amy').create(automatic)
    const ref = refTo('AutomationGraph', 'automatic')
    const labelled = await cluster.as('alice').mergePatch(ref, { metadata: { labels: { team: 'a' } } })
    expect(labelled.metadata.labels).toEqual({ team: 'a' })
    await expect(cluster.as('alice').mergePatch(ref, { spec: { planHistoryLimit: 3 } })).rejects.toThrow(denied)
    const review = await cluster.as('alice').mergePatch(ref, { spec: { applyPolicy: 'Review' } })
    expect(review).toMatchObject({ spec: { applyPolicy: 'Review' } })
  })

  it('the operator names what a graph named', async () => {
    expect(await cluster.as(manager).create(sample('Automation', 'made-by-graph'))).toMatchObject({
      spec: { serviceAccountName: 'greeter' },
    })
  })
})
