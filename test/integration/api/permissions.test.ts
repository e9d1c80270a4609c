import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dump, loadAll } from 'js-yaml'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type SubjectAccessReview, subjectAccessReviewType } from '../../../src/kube/core-types.ts'
import type { KubeObject } from '../../../src/lib/object.ts'
import { freshNamespace, testClient } from '../../kit/control-plane.ts'
import { eventually } from '../../kit/eventually.ts'

/** What the roles of the chart allow and, above all, what they do not. */

const client = testClient()
const own = 'graphwright-system'
const manager = `system:serviceaccount:${own}:graphwright-manager`
const gateway = `system:serviceaccount:${own}:graphwright-gateway`
let workspace: string

beforeAll(async () => {
  workspace = await freshNamespace(client)
  const text = readFileSync(new URL('../../../manifests/install.yaml', import.meta.url), 'utf8')
  const objects = (loadAll(text) as KubeObject[]).filter(({ kind }) => kind === 'Namespace' || kind.includes('Role'))
  kubectlApply([...objects, binding('alice', 'edit'), binding('amy', 'admin')])
  // The standard roles take the aggregated ones in a moment later.
  await eventually(() => may('alice', workspace, 'create automationgraphs.graphwright.dev'))
  await eventually(() => may('amy', workspace, 'create automations.graphwright.dev'))
})

afterAll(() => client.transport.close())

function kubectlApply(objects: readonly object[]): void {
  const tool = new URL('../../../hack/cluster/cluster', import.meta.url).pathname
  const input = objects.map((object) => dump(object)).join('---\n')
  const flags = ['--kubeconfig', inject('kubeconfig'), 'apply', '--server-side', '-f', '-']
  const { status, stderr } = spawnSync(tool, ['kubectl', ...flags], { input, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
}

function binding(user: string, role: string): object {
  const apiGroup = 'rbac.authorization.k8s.io'
  return {
    apiVersion: `${apiGroup}/v1`,
    kind: 'RoleBinding',
    metadata: { name: user, namespace: workspace },
    roleRef: { apiGroup, kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup, kind: 'User', name: user }],
  }
}

/** `VERB RESOURCE[.GROUP][/SUBRESOURCE][:NAME]`, as in `patch runs.graphwright.dev/status`. */
async function may(user: string, namespace: string, request: string): Promise<boolean> {
  const [verb = '', target = ''] = request.split(' ')
  const [, resource = '', group, subresource, name] =
    /^([a-z]+)(?:\.([a-z0-9.]+))?(?:\/([a-z]+))?(?::(.+))?$/.exec(target) ?? []
  const resourceAttributes = {
    ...{ verb, resource, namespace },
    ...(group === undefined ? {} : { group }),
    ...(subresource === undefined ? {} : { subresource }),
    ...(name === undefined ? {} : { name }),
  }
  const { apiVersion, kind } = subjectAccessReviewType
  const groups = user.startsWith('system:')
    ? ['system:authenticated', 'system:serviceaccounts']
    : ['system:authenticated']
  const review = await client.transport.request<SubjectAccessReview>({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    body: { apiVersion, kind, spec: { user, groups, resourceAttributes } },
  })
  return review.status?.allowed === true
}

const g = 'graphwright.dev'

describe('the manager', () => {
  it.each([
    `list automationgraphs.${g}`,
    `create automationgraphplans.${g}`,
    `patch automations.${g}`,
    `delete automationfirings.${g}`,
    `patch automationfirings.${g}/status`,
    `update automationgraphs.${g}/finalizers`,
    'create jobs.batch',
    'delete jobs.batch',
    'watch pods',
    'get pods/log',
    'create serviceaccounts',
    'patch serviceaccounts:graphwright-runner',
    'patch networkpolicies.networking.k8s.io:graphwright-runner',
    'create events.events.k8s.io',
    'list events.events.k8s.io',
  ])('may %s in a workspace', async (request) => {
    expect(await may(manager, workspace, request)).toBe(true)
  })

  it.each([
    `create automationgraphs.${g}`,
    `patch automationgraphs.${g}`,
    `patch agents.${g}`,
    `patch environments.${g}`,
    `delete agents.${g}`,
    `delete automations.${g}`,
    `delete agentversions.${g}`,
    `patch agentversions.${g}`,
    `patch automationprograms.${g}`,
    `patch automationprograms.${g}/status`,
    'create pods',
    'get pods',
    'create pods/exec',
    'delete pods',
    'patch jobs.batch',
    'get events',
    'get secrets',
    'list secrets',
    'create secrets',
    'get secrets:graphwright-ca',
    'get configmaps',
    'patch serviceaccounts:default',
    'delete serviceaccounts',
    'create serviceaccounts/token',
    'impersonate serviceaccounts',
    'patch networkpolicies.networking.k8s.io:other',
    'delete networkpolicies.networking.k8s.io',
    'create roles.rbac.authorization.k8s.io',
    'create rolebindings.rbac.authorization.k8s.io',
    'create clusterrolebindings.rbac.authorization.k8s.io',
    'create deployments.apps',
    'create tokenreviews.authentication.k8s.io',
  ])('may not %s in a workspace', async (request) => {
    expect(await may(manager, workspace, request)).toBe(false)
  })

  it('keeps its two Secrets, and sees no other in its own namespace', async () => {
    for (const name of ['graphwright-ca', 'graphwright-gateway-tls']) {
      expect(await may(manager, own, `get secrets:${name}`)).toBe(true)
      expect(await may(manager, own, `patch secrets:${name}`)).toBe(true)
    }
    expect(await may(manager, own, 'create secrets')).toBe(true)
    expect(await may(manager, own, 'delete secrets:graphwright-ca')).toBe(false)
    expect(await may(manager, own, 'get secrets:other')).toBe(false)
    expect(await may(manager, own, 'list secrets')).toBe(false)
  })

  it('keeps the one Lease that its leader is elected by, and tells of it', async () => {
    const lease = 'leases.coordination.k8s.io'
    for (const request of [
      `create ${lease}`,
      `get ${lease}:graphwright-manager`,
      `patch ${lease}:graphwright-manager`,
    ]) {
      expect(await may(manager, own, request)).toBe(true)
    }
    expect(await may(manager, own, 'create events.events.k8s.io')).toBe(true)
    for (const request of [`get ${lease}:other`, `patch ${lease}:other`, `delete ${lease}:graphwright-manager`]) {
      expect(await may(manager, own, request)).toBe(false)
    }
    expect(await may(manager, workspace, `patch ${lease}:graphwright-manager`)).toBe(false)
  })

  it('finds the addresses that job pods need', async () => {
    expect(await may(manager, own, 'get services:graphwright-gateway')).toBe(true)
    expect(await may(manager, 'default', 'get services:kubernetes')).toBe(true)
    expect(await may(manager, workspace, 'get services:any')).toBe(false)
  })
})

describe('the gateway', () => {
  it.each([
    `watch runs.${g}`,
    `patch runs.${g}/status`,
    `get sessions.${g}`,
    `get automationfirings.${g}`,
    'create tokenreviews.authentication.k8s.io',
  ])('may %s', async (request) => {
    expect(await may(gateway, workspace, request)).toBe(true)
  })

  it.each([
    `create runs.${g}`,
    `patch runs.${g}`,
    `patch sessions.${g}/status`,
    `list automationfirings.${g}`,
    'create jobs.batch',
    'get pods',
    'get secrets',
    'create serviceaccounts/token',
    'create subjectaccessreviews.authorization.k8s.io',
  ])('may not %s', async (request) => {
    expect(await may(gateway, workspace, request)).toBe(false)
  })

  it('reads its certificate and not the key of the CA', async () => {
    expect(await may(gateway, own, 'watch secrets:graphwright-gateway-tls')).toBe(true)
    expect(await may(gateway, own, 'get secrets:graphwright-ca')).toBe(false)
    expect(await may(gateway, own, 'list secrets')).toBe(false)
  })
})

describe('people with the standard roles', () => {
  const cases: [string, string, boolean][] = [
    ['alice', `create automationgraphs.${g}`, true],
    ['alice', `create automationfirings.${g}`, true],
    ['alice', `patch automations.${g}`, true],
    ['alice', `list runs.${g}`, true],
    ['alice', 'use serviceaccounts:any', true],
    ['alice', `create automations.${g}`, false],
    ['alice', `patch automationgraphplans.${g}`, false],
    ['alice', `create sessions.${g}`, false],
    ['alice', `patch runs.${g}/status`, false],
    ['amy', `patch automationgraphplans.${g}`, true],
    ['amy', `create automations.${g}`, true],
    ['amy', `delete sessions.${g}`, true],
    ['amy', `create sessions.${g}`, false],
    ['amy', `create automationgraphplans.${g}`, false],
    ['amy', `patch automationgraphs.${g}/status`, false],
  ]
  it.each(cases)('%s may %s: %s', async (user, request, expected) => {
    expect(await may(user, workspace, request)).toBe(expected)
  })
})
