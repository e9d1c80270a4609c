import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { gatewayAudience, gatewayPort, podPaths } from '../../../src/api/run-api.ts'
import { freshNamespace, testClient } from '../../kit/control-plane.ts'
import { chart, helm, one, type PodSpec, type Rendered, render } from './rendered.ts'

const run = promisify(execFile)
const root = new URL('../../../', import.meta.url)

function podOf(objects: readonly Rendered[], name: string): PodSpec {
  return one(objects, 'Deployment', name).spec?.template?.spec as PodSpec
}

describe('the chart', { timeout: 120_000 }, () => {
  it('has nothing for helm lint to say', async () => {
    expect(await helm('lint', '--strict', chart)).toContain('1 chart(s) linted, 0 chart(s) failed')
  })

  it('renders manifests/install.yaml (after a change of the chart run make manifests)', async () => {
    const script = new URL('hack/install-manifest.sh', root).pathname
    const { stdout } = await run(script, ['-'], { maxBuffer: 1 << 24 })
    expect(stdout === readFileSync(new URL('manifests/install.yaml', root), 'utf8')).toBe(true)
  })

  it('installs into any namespace and names no other', async () => {
    const objects = await render('elsewhere')
    const text = JSON.stringify(objects)
    expect(text).toContain('system:serviceaccount:elsewhere:graphwright-manager')
    expect(text).not.toContain('graphwright-system')
    for (const { metadata, subjects } of objects) {
      expect(['elsewhere', 'default', undefined]).toContain(metadata.namespace)
      for (const { namespace } of subjects ?? []) expect(namespace).toBe('elsewhere')
    }
  })

  it('starts both processes as the program expects', async () => {
    const objects = await render('elsewhere')
    expect(podOf(objects, 'graphwright-manager').containers[0]?.args).toEqual([
      'manager',
      `--gateway-url=https://graphwright-gateway.elsewhere.svc:${gatewayPort}`,
      '--runner-image=localhost/graphwright:0.1.0',
      '--log-level=info',
      '--metrics-port=8080',
      '--leader-elect',
    ])
    expect(podOf(objects, 'graphwright-gateway').containers[0]?.args).toEqual([
      'gateway',
      '--data-dir=/var/lib/graphwright',
      `--port=${gatewayPort}`,
      '--metrics-port=8080',
      '--log-level=info',
    ])
  })

  it('runs two managers that elect one, prefer two nodes, and are drained one at a time', async () => {
    const objects = await render('elsewhere')
    expect(one(objects, 'Deployment', 'graphwright-manager').spec).toMatchObject({
      replicas: 2,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 1 } },
    })
    const { affinity } = podOf(objects, 'graphwright-manager')
    expect(affinity).toMatchObject({
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { podAffinityTerm: { topologyKey: 'kubernetes.io/hostname' } },
        ],
      },
    })
    expect(one(objects, 'PodDisruptionBudget', 'graphwright-manager').spec).toMatchObject({
      maxUnavailable: 1,
      selector: { matchLabels: { 'app.kubernetes.io/component': 'manager' } },
    })
  })

  it('runs one manager without an election, budget or preference of its own where that is wanted', async () => {
    const affinity = { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } }
    const off = ['leaderElection', 'podDisruptionBudget'].map((name) => `manager.${name}.enabled=false`)
    const other = [`manager.affinity=${JSON.stringify(affinity)}`, 'manager.replicas=1']
    const objects = await render('elsewhere', ...off, ...other)
    expect(objects.filter(({ kind }) => kind === 'PodDisruptionBudget')).toEqual([])
    expect(one(objects, 'Deployment', 'graphwright-manager').spec?.replicas).toBe(1)
    const { containers, affinity: rendered } = podOf(objects, 'graphwright-manager')
    expect(containers[0]?.args).not.toContain('--leader-elect')
    expect(rendered).toEqual(affinity)
  })

  it('gives the manager a token for the gateway where it looks for one', async () => {
    const { containers, volumes } = podOf(await render('elsewhere'), 'graphwright-manager')
    expect(volumes).toContainEqual({
      name: 'gateway-token',
      projected: {
        sources: [{ serviceAccountToken: { audience: gatewayAudience, expirationSeconds: 3600, path: 'token' } }],
      },
    })
    expect(`${containers[0]?.volumeMounts[0]?.mountPath}/token`).toBe(podPaths.token)
  })

  it.each(['graphwright-manager', 'graphwright-gateway'])('%s passes Pod Security restricted', async (name) => {
    const client = testClient()
    const namespace = await freshNamespace(client)
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
    await client.mergePatch({ apiVersion: 'v1', kind: 'Namespace', name: namespace }, { metadata: { labels } })
    await client.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } })
    const spec = podOf(await render(namespace), name)
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace }, spec }
    expect(await client.create(pod, { dryRun: true })).toMatchObject({ kind: 'Pod' })
    for (const { securityContext } of spec.containers) {
      expect(securityContext).toMatchObject({ readOnlyRootFilesystem: true })
    }
    await client.transport.close()
  })

  it('has Roles in the served namespaces and its own, and nothing in the whole cluster, where they are named', async () => {
    const everywhere = await render('elsewhere')
    one(everywhere, 'ClusterRoleBinding', 'graphwright-manager')
    const parts = ['crds.install=false', 'policies.install=false', 'rbac.userRoles=false']
    const some = await render('elsewhere', 'watchNamespaces=["a","b"]', ...parts)
    expect(some.filter(({ metadata }) => metadata.namespace === undefined)).toEqual([])
    const placed = (suffix: string) =>
      some
        .filter(({ kind, metadata }) => kind === suffix && metadata.namespace !== 'elsewhere')
        .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)
        .sort()
    const expected = [
      'a/graphwright-gateway-workspace',
      'a/graphwright-manager-workspace',
      'b/graphwright-gateway-workspace',
      'b/graphwright-manager-workspace',
    ]
    expect([placed('Role'), placed('RoleBinding')]).toEqual([expected, expected])
    for (const name of ['graphwright-manager', 'graphwright-gateway']) {
      expect(podOf(some, name).containers[0]?.args).toContain('--namespaces=a,b')
    }
  })

  it('is the part of the whole cluster alone, which knows the operators that it is told of', async () => {
    const objects = await render('elsewhere', 'operator.install=false', 'policies.operatorNamespaces=["a","b"]')
    expect(objects.filter(({ metadata }) => metadata.namespace !== undefined)).toEqual([])
    expect(new Set(objects.map(({ kind }) => kind))).toEqual(
      new Set([
        'ClusterRole',
        'CustomResourceDefinition',
        'ValidatingAdmissionPolicy',
        'ValidatingAdmissionPolicyBinding',
      ]),
    )
    const text = JSON.stringify(objects)
    const known = new Set([...text.matchAll(/system:serviceaccount:([a-z-]+:[a-z-]+)/g)].map(([, name]) => name))
    const names = ['graphwright-gateway', 'graphwright-manager']
    expect([...known].sort()).toEqual(['a', 'b'].flatMap((namespace) => names.map((name) => `${namespace}:${name}`)))
  })

  it('takes the storage class of the content store, none, or the default one', async () => {
    const claim = async (...values: string[]) =>
      one(await render('elsewhere', ...values), 'PersistentVolumeClaim', 'graphwright-gateway-data').spec
    expect(await claim()).not.toHaveProperty('storageClassName')
    expect(await claim('gateway.storage.className="local"')).toHaveProperty('storageClassName', 'local')
    expect(await claim('gateway.storage.className=""')).toHaveProperty('storageClassName', '')
  })

  it('leaves the CRDs out where somebody else installs them, and keeps its own when it goes', async () => {
    const crds = (objects: readonly Rendered[]) => objects.filter(({ kind }) => kind === 'CustomResourceDefinition')
    const installed = crds(await render('elsewhere'))
    expect(installed).toHaveLength(10)
    for (const { metadata } of installed) {
      expect(metadata).toMatchObject({ annotations: { 'helm.sh/resource-policy': 'keep' } })
    }
    expect(crds(await render('elsewhere', 'crds.install=false'))).toEqual([])
  })

  it('keeps the address for notices in a Secret, and tells manager and gateway', async () => {
    const argsOf = (objects: readonly Rendered[]) => podOf(objects, 'graphwright-manager').containers[0]?.args ?? []
    const secrets = (objects: readonly Rendered[]) => objects.filter(({ kind }) => kind === 'Secret')
    const without = await render('elsewhere')
    expect(secrets(without)).toEqual([])
    expect(argsOf(without)).not.toContain('--notices')
    const own = await render('elsewhere', 'notices.url="https://hooks.example/x?token=1"', 'notices.port=8443')
    expect(secrets(own)).toMatchObject([{ stringData: { url: 'https://hooks.example/x?token=1' } }])
    expect(argsOf(own)).toContain('--notices')
    expect(JSON.stringify(podOf(own, 'graphwright-gateway'))).toContain('graphwright-notices')
    expect(JSON.stringify(podOf(own, 'graphwright-gateway'))).not.toContain('hooks.example')
    expect(JSON.stringify(one(own, 'NetworkPolicy', 'graphwright-gateway'))).toContain('8443')
    const given = await render('elsewhere', 'notices.existingSecret="hooks"')
    expect(secrets(given)).toEqual([])
    expect(JSON.stringify(podOf(given, 'graphwright-gateway'))).toContain('"name":"hooks"')
  })

  it('has the version of the program', async () => {
    const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { version: string }
    expect(await helm('show', 'chart', chart)).toMatch(new RegExp(`^appVersion: ${version}$`, 'm'))
  })
})
