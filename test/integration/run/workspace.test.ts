import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Agent, type AgentVersion, agent, agentVersion } from '../../../src/api/agent.ts'
import { type Environment, environment } from '../../../src/api/environment.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import { networkPolicyType, serviceAccountType } from '../../../src/kube/core-types.ts'
import { isControlledBy } from '../../../src/lib/owner-references.ts'
import { conditionOf } from '../../../src/runtime/conditions.ts'
import { anAgent, anEnvironment, unsaved } from '../../kit/builders.ts'
import { eventually } from '../../kit/eventually.ts'
import { lintStatus } from '../../kit/lint-status.ts'
import { preparedClient, Workbench } from './workbench.ts'

let client: KubeClient
beforeAll(async () => {
  client = await preparedClient()
})
afterAll(() => client.transport.close())

async function bench(): Promise<Workbench> {
  const made = await Workbench.create(client)
  await made.manager()
  return made
}

const ready = (object: Environment | Agent) => conditionOf(object.status?.conditions, 'Ready')

describe('an Environment', () => {
  it('makes its namespace a workspace: an account and a NetworkPolicy, which come back', async () => {
    const { namespace } = await bench()
    const made = await client.create<Environment>(unsaved(anEnvironment(), namespace))
    const at = { namespace, name: 'graphwright-runner' }
    const policy = await eventually(() => client.get(networkPolicyType, at))
    const account = await eventually(() => client.get(serviceAccountType, at))
    expect([policy.metadata.ownerReferences, account.metadata.ownerReferences]).toEqual([undefined, undefined])
    await eventually(async () =>
      expect(ready(await client.get<Environment>(environment, { namespace, name: 'default' }))?.status).toBe('True'),
    )

    await client.delete({ ...at, apiVersion: policy.apiVersion, kind: policy.kind })
    const again = await eventually(() => client.get(networkPolicyType, at))
    expect(again.metadata.uid).not.toBe(policy.metadata.uid)
    expect(again.spec).toEqual(policy.spec)

    await client.mergePatch({ ...at, apiVersion: again.apiVersion, kind: again.kind }, { spec: { egress: [{}] } })
    await eventually(async () => expect((await client.get(networkPolicyType, at)).spec).toEqual(policy.spec))

    await client.delete({ apiVersion: made.apiVersion, kind: made.kind, namespace, name: 'default' })
    expect((await client.get(serviceAccountType, at)).metadata.uid).toBe(account.metadata.uid)
  })

  it.each([
    ['a label of ours', { podLabels: { 'graphwright.dev/run': 'x' } }, 'Invalid', 'graphwright.dev/run'],
    ['a toleration that is none', { tolerations: [{ operator: 'Sometimes' }] }, 'PodRefused', 'operator'],
    ['a quantity that is none', { resources: { limits: { memory: 'much' } } }, 'PodRefused', 'quantit'],
  ])('with %s is not ready, and says why', async (_, spec, reason, words) => {
    const workbench = await bench()
    await workbench.create<Environment>(anEnvironment({ spec }))
    const found = await eventually(async () => {
      const now = await workbench.get<Environment>(environment, 'default')
      expect(ready(now)).toMatchObject({ status: 'False', reason })
      return now
    })
    expect(ready(found)?.message).toContain(words)
    expect(lintStatus(found)).toEqual([])

    const path = { apiVersion: found.apiVersion, kind: found.kind, namespace: workbench.namespace, name: 'default' }
    await client.mergePatch(path, { spec: { podLabels: null, tolerations: null, resources: null } })
    await eventually(async () =>
      expect(ready(await workbench.get<Environment>(environment, 'default'))?.status).toBe('True'),
    )
  })
})

describe('an Agent', () => {
  const versions = async ({ namespace }: Workbench) =>
    (await client.list<AgentVersion>(agentVersion, { namespace })).items
  const latest = (workbench: Workbench, number: number) =>
    eventually(async () => {
      const found = await workbench.get<Agent>(agent, 'triager')
      expect(found.status?.latestVersion?.number).toBe(number)
      expect(ready(found)).toMatchObject({ status: 'True', reason: 'Published' })
      return found
    })

  it('[A-317] publishes a version for each change of what it runs, and keeps the old ones', async () => {
    const workbench = await bench()
    const made = await workbench.create<Agent>(anAgent())
    const first = await latest(workbench, 1)
    expect(lintStatus(first)).toEqual([])
    const ref = { apiVersion: made.apiVersion, kind: made.kind, namespace: workbench.namespace, name: 'triager' }
    await client.mergePatch(ref, { spec: { repeatSafe: true } })
    const second = await latest(workbench, 2)
    await client.mergePatch(ref, { spec: { description: 'other words' } })
    await eventually(async () => {
      expect((await workbench.get<Agent>(agent, 'triager')).status?.observedGeneration).toBe(3)
    })
    const published = await versions(workbench)
    expect(published.map(({ metadata, spec }) => [metadata.name, spec.repeatSafe])).toEqual([
      ['triager-v1', false],
      ['triager-v2', true],
    ])
    expect(published.every((version) => isControlledBy(version, made))).toBe(true)
    expect(second.status?.latestVersion).toMatchObject({
      name: 'triager-v2',
      uid: published[1]?.metadata.uid,
      digest: published[1]?.spec.digest,
    })
  })

  it('publishes one version where two managers see it at once', async () => {
    const workbench = await bench()
    await workbench.manager()
    await workbench.create<Agent>(anAgent())
    await latest(workbench, 1)
    expect(await versions(workbench)).toHaveLength(1)
  })
})
