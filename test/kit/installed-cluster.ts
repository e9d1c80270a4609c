import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { kinds } from '../../src/api/kinds.ts'
import { KubeClient } from '../../src/kube/client.ts'
import { loadKubeConfig } from '../../src/kube/config.ts'
import { coreTypes } from '../../src/kube/core-types.ts'
import { KubeError } from '../../src/kube/error.ts'
import { Transport } from '../../src/kube/transport.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import type { KubeObject, ObjectRef, ResourceType } from '../../src/lib/object.ts'
import { startControlPlane } from './cluster-tool.ts'
import { eventually } from './eventually.ts'
import { sampleOf } from './samples.ts'

/** A control plane of its own with manifests/install.yaml applied and its policies in force. */
export interface InstalledCluster {
  /** A client of one of {@link people}, of the operator, or of the administrator. */
  as(user: string): KubeClient
  /** Creates a namespace in which everybody has the roles of {@link people}. */
  workspace(name: string): Promise<void>
  stop(): Promise<void>
}

export const manager = 'system:serviceaccount:graphwright-system:graphwright-manager'
export const gateway = 'system:serviceaccount:graphwright-system:graphwright-gateway'
export const administrator = 'admin'

/**
 * `alice` has the standard role edit, `amy` admin, `bob` a role of his own that reaches graphs, environments and plans
 * and nothing else; `mallory` may do everything to every kind of ours and run any workload, so that only the policies
 * stand in her way.
 */
export const people = ['alice', 'amy', 'bob', 'mallory'] as const

const tool = new URL('../../hack/cluster/cluster', import.meta.url).pathname
const manifest = new URL('../../manifests/install.yaml', import.meta.url).pathname

function rbacType(kind: string, plural: string): ResourceType<KubeObject> {
  return { apiVersion: 'rbac.authorization.k8s.io/v1', kind, plural, namespaced: true }
}

const workloadTypes: ResourceType<KubeObject>[] = [
  { apiVersion: 'apps/v1', kind: 'Deployment', plural: 'deployments', namespaced: true },
  { apiVersion: 'apps/v1', kind: 'ReplicaSet', plural: 'replicasets', namespaced: true },
  { apiVersion: 'batch/v1', kind: 'CronJob', plural: 'cronjobs', namespaced: true },
  { apiVersion: 'v1', kind: 'PodTemplate', plural: 'podtemplates', namespaced: true },
]

export async function startInstalledCluster(): Promise<InstalledCluster> {
  const users = Object.fromEntries([...people, manager, gateway].map((name) => [name, groupsOf(name)]))
  const plane = await startControlPlane({ users })
  const clients = new Map<string, KubeClient>()
  function as(user: string): KubeClient {
    const kubeconfig = user === administrator ? plane.kubeconfig : plane.users[user]
    if (kubeconfig === undefined) throw new Error(`the cluster has no user ${user}`)
    const client = clients.get(user) ?? clientOf(kubeconfig)
    clients.set(user, client)
    return client
  }
  const cluster: InstalledCluster = {
    as,
    workspace: (name) => createWorkspace(as(administrator), name),
    async stop() {
      await Promise.all([...clients.values()].map((client) => client.transport.close()))
      await plane.stop()
    },
  }
  await promisify(execFile)(tool, [
    'kubectl',
    '--kubeconfig',
    plane.kubeconfig,
    'apply',
    '--server-side',
    '-f',
    manifest,
  ])
  await policiesBind(cluster)
  return cluster
}

function groupsOf(user: string): string[] {
  if (!user.startsWith('system:serviceaccount:')) return []
  return ['system:serviceaccounts', `system:serviceaccounts:${user.split(':')[2]}`]
}

function clientOf(kubeconfig: string): KubeClient {
  const types = [...kinds, ...workloadTypes, rbacType('Role', 'roles'), rbacType('RoleBinding', 'rolebindings')]
  return new KubeClient(new Transport(loadKubeConfig({ kubeconfig })), [...coreTypes, ...types])
}

async function createWorkspace(admin: KubeClient, namespace: string): Promise<void> {
  await admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  await grant(admin, namespace, 'bob', [
    {
      apiGroups: ['graphwright.dev'],
      resources: ['automationgraphs', 'automationgraphplans', 'environments'],
      verbs: ['*'],
    },
  ])
  await grant(admin, namespace, 'mallory', [
    { apiGroups: ['graphwright.dev'], resources: ['*'], verbs: ['*'] },
    { apiGroups: ['', 'batch', 'apps'], resources: ['*'], verbs: ['create', 'update', 'patch', 'get', 'list'] },
    { apiGroups: [''], resources: ['serviceaccounts'], verbs: ['use'] },
  ])
  await bind(admin, namespace, 'alice', { kind: 'ClusterRole', name: 'edit' })
  await bind(admin, namespace, 'amy', { kind: 'ClusterRole', name: 'admin' })
}

export interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly verbs: readonly string[]
}

/** Gives a person further rights in a namespace. */
export async function grant(admin: KubeClient, namespace: string, user: string, rules: readonly Rule[]): Promise<void> {
  const metadata = { name: '', generateName: `${user}-`, namespace }
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata, rules }
  const { name } = (await admin.create<KubeObject>(role)).metadata
  await bind(admin, namespace, user, { kind: 'Role', name })
}

async function bind(
  admin: KubeClient,
  namespace: string,
  user: string,
  role: { readonly kind: string; readonly name: string },
): Promise<void> {
  const apiGroup = 'rbac.authorization.k8s.io'
  await admin.create<KubeObject>({
    apiVersion: `${apiGroup}/v1`,
    kind: 'RoleBinding',
    metadata: { name: '', generateName: `${user}-`, namespace },
    ...{ roleRef: { apiGroup, ...role }, subjects: [{ apiGroup, kind: 'User', name: user }] },
  })
}

/** Policies take a moment to bind: each is asked for what it must refuse until it does. */
async function policiesBind(cluster: InstalledCluster): Promise<void> {
  const namespace = 'policy-probe'
  await cluster.workspace(namespace)
  const place = { name: 'probe', namespace }
  await cluster.as(administrator).create<KubeObject>({ ...sampleOf('Environment'), metadata: place })
  const graph = { apiVersion: 'graphwright.dev/v1alpha1', kind: 'AutomationGraph', name: 'a', uid: 'a' }
  const owned = { ...place, ownerReferences: [graph] }
  const environment = { ...place, apiVersion: 'graphwright.dev/v1alpha1', kind: 'Environment' }
  const probes: Record<string, () => Promise<KubeError>> = {
    'internal-kinds': () => refused(cluster, 'mallory', { ...sampleOf('Session'), metadata: place }),
    references: () => refused(cluster, 'bob', { ...sampleOf('AutomationGraph'), metadata: place }),
    'graph-owned': () => refused(cluster, 'mallory', { ...sampleOf('Automation'), metadata: owned }),
    'runner-pods': () => refused(cluster, 'mallory', workload('Job', 'graphwright-runner', place)),
    'status-writers': () => mustFail(patchStatus(cluster.as('mallory'), environment, { observedGeneration: 1 })),
  }
  for (const [name, probe] of Object.entries(probes)) {
    const policy = `ValidatingAdmissionPolicy 'graphwright-${name}'`
    await eventually(async () => (await probe()).message.includes(policy), { timeout: 30_000, interval: 100 })
  }
}

/** Patches a status, without storing it. */
export function patchStatus(client: KubeClient, ref: ObjectRef, status: JsonObject): Promise<KubeObject> {
  return client.mergePatch(ref, { status }, { subresource: 'status', dryRun: true })
}

/** A workload of any kind whose pods run as a ServiceAccount. */
export function workload(kind: string, serviceAccountName: string, metadata: KubeObject['metadata']): KubeObject {
  const labels = { app: 'a' }
  const spec = { serviceAccountName, restartPolicy: 'Never', containers: [{ name: 'a', image: 'a' }] }
  const template = { metadata: { labels }, spec }
  const lasting = { ...template, spec: { ...spec, restartPolicy: 'Always' } }
  const bodies: Record<string, { apiVersion: string; [field: string]: unknown }> = {
    Pod: { apiVersion: 'v1', spec },
    PodTemplate: { apiVersion: 'v1', template: lasting },
    Job: { apiVersion: 'batch/v1', spec: { template } },
    CronJob: { apiVersion: 'batch/v1', spec: { schedule: '0 0 1 1 *', jobTemplate: { spec: { template } } } },
    ReplicaSet: { apiVersion: 'apps/v1', spec: { selector: { matchLabels: labels }, template: lasting } },
    Deployment: { apiVersion: 'apps/v1', spec: { selector: { matchLabels: labels }, template: lasting } },
  }
  const body = bodies[kind]
  if (body === undefined) throw new Error(`no workload of kind ${kind} is known`)
  return { kind, metadata, ...body }
}

/** What the server says to an object that it must refuse; rejects while it accepts. */
export async function refused(cluster: InstalledCluster, user: string, object: KubeObject): Promise<KubeError> {
  return mustFail(cluster.as(user).create(object, { dryRun: true }))
}

/** The error that a request must end in. */
export async function mustFail(request: Promise<unknown>): Promise<KubeError> {
  let accepted: unknown
  try {
    accepted = await request
  } catch (error) {
    if (error instanceof KubeError) return error
    throw error
  }
  throw new Error(`the server accepted ${JSON.stringify(accepted).slice(0, 200)}`)
}
