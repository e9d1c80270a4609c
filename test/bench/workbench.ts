import { randomBytes } from 'node:crypto'
import { automation } from '../../src/api/automation.ts'
import { type AutomationFiring, automationFiring } from '../../src/api/automation-firing.ts'
import { type AutomationGraph, automationGraph } from '../../src/api/automation-graph.ts'
import { kinds } from '../../src/api/kinds.ts'
import { fieldManagers } from '../../src/api/labels.ts'
import { KubeClient } from '../../src/kube/client.ts'
import { loadKubeConfig } from '../../src/kube/config.ts'
import { coreTypes } from '../../src/kube/core-types.ts'
import { whoAmI } from '../../src/kube/identity.ts'
import { Transport } from '../../src/kube/transport.ts'
import type { Json } from '../../src/lib/json.ts'
import type { KubeObject, Resource, ResourceType } from '../../src/lib/object.ts'
import { sampleObjects } from '../kit/samples.ts'
import { Witness } from './witness.ts'

type Workload = Resource<Record<string, unknown>, unknown>

export const deploymentType: ResourceType<Workload> = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
}
export const replicaSetType: ResourceType<Workload> = { ...deploymentType, kind: 'ReplicaSet', plural: 'replicasets' }

/** Folder of the sample that is measured, below manifests/samples. */
const sample = 'triage-and-escalate'

/** What every section works with: a client, a namespace of its own with the sample's agents, and witnesses. */
export class Workbench {
  readonly client: KubeClient
  readonly namespace: string
  readonly user: string
  readonly #end = new AbortController()

  private constructor(client: KubeClient, namespace: string, user: string) {
    this.client = client
    this.namespace = namespace
    this.user = user
  }

  static async open(kubeconfig: string): Promise<Workbench> {
    const types = [...coreTypes, ...kinds, deploymentType, replicaSetType]
    const client = new KubeClient(new Transport(loadKubeConfig({ kubeconfig })), types)
    const name = `bench-${randomBytes(3).toString('hex')}`
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
    await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } })
    const bench = new Workbench(client, name, await whoAmI(client))
    for (const file of ['service-account', 'environment', 'agents']) {
      for (const object of sampleObjects(`${sample}/${file}.yaml`)) await bench.apply(object)
    }
    return bench
  }

  /** Deletes the namespace. What is in it may take a while to go. */
  async close(): Promise<void> {
    await this.client.delete({ apiVersion: 'v1', kind: 'Namespace', name: this.namespace })
    this.#end.abort()
    await this.client.transport.close()
  }

  witness<T extends KubeObject>(type: ResourceType<T>): Promise<Witness<T>> {
    return Witness.start(this.client, type, this.namespace, this.#end.signal)
  }

  /** As `kubectl apply --server-side`. */
  apply<T extends KubeObject>(object: T): Promise<T> {
    const metadata = { ...object.metadata, namespace: this.namespace }
    return this.client.apply({ ...object, metadata }, { fieldManager: fieldManagers.cli })
  }

  create<T extends KubeObject>(object: T): Promise<T> {
    return this.client.create({ ...object, metadata: { ...object.metadata, namespace: this.namespace } })
  }

  /** Applies a graph that approves itself, and waits until its Automation is ready to be fired. */
  async automate(graph: AutomationGraph): Promise<void> {
    const automations = await this.witness(automation)
    await this.apply({ ...graph, spec: { ...graph.spec, applyPolicy: 'Automatic' as const } })
    const { name } = graph.metadata
    await automations.first((found) => found.metadata.name === name && found.status?.state === 'Active')
  }

  /** Fires by hand. Returns the firing, and the time right before the request. */
  async fire(of: string, event: Json): Promise<{ readonly firing: AutomationFiring; readonly at: number }> {
    const name = `${of}-manual-${randomBytes(6).toString('hex')}`
    const { apiVersion, kind } = automationFiring
    const spec = { automation: { name: of }, trigger: 'manual' as const, requestedBy: this.user, event }
    const at = performance.now()
    const firing = await this.create<AutomationFiring>({ apiVersion, kind, metadata: { name }, spec })
    return { firing, at }
  }
}

/** A graph in the Environment and by the ServiceAccount of the sample. */
export function graphOf(name: string, { nodes, edges }: Pick<AutomationGraph['spec'], 'nodes' | 'edges'>) {
  const spec = { environment: 'triage', serviceAccountName: 'triage', nodes, edges }
  const { apiVersion, kind } = automationGraph
  return { apiVersion, kind, metadata: { name }, spec } as AutomationGraph
}

/** The sample's graph under another name. */
export function sampleGraph(name: string): AutomationGraph {
  const [graph] = sampleObjects(`${sample}/graph.yaml`) as AutomationGraph[]
  if (graph === undefined) throw new Error(`the sample ${sample} has no graph`)
  return { ...graph, metadata: { name } }
}
