import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dump, load } from 'js-yaml'
import type { KubeClient } from '../../../src/kube/client.ts'
import { type Pod, podType, type TokenRequest } from '../../../src/kube/core-types.ts'
import type { KubeObject, ResourceType } from '../../../src/lib/object.ts'
import type { ControlPlane } from '../../kit/cluster-tool.ts'
import { eventually } from '../../kit/eventually.ts'
import { freePorts, GatewayProcess } from '../../kit/gateway-process.ts'
import { ManagerKeeper, type ManagerSettings } from '../../kit/manager-process.ts'
import type { RunApi } from '../../kit/pod-runner.ts'
import { keepCertificate } from '../crash/installation.ts'
import { callGateway } from '../gateway/support.ts'

interface Deployment extends KubeObject {
  status?: { readyReplicas?: number }
  spec: { template: { spec: { containers: { args: string[] }[] } } }
}
const deploymentType: ResourceType<Deployment> = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
}

/**
 * Runs what a release of the chart would run, where there is no node: manager and gateway with the arguments of their
 * Deployments, each with nothing but a token of its ServiceAccount, so that RBAC holds them to what the chart grants.
 */
export class RunningRelease {
  readonly #options: Parts
  #manager: ManagerKeeper

  private constructor(options: Parts) {
    this.#options = options
    this.#manager = new ManagerKeeper(options.manager)
  }

  /** @param namespace of the release, which is installed */
  static async start(plane: ControlPlane, admin: KubeClient, namespace: string): Promise<RunningRelease> {
    const folder = mkdtempSync(join(tmpdir(), 'graphwright-release-'))
    const caPem = await keepCertificate(admin, namespace)
    const config = async (part: string) =>
      kubeconfigOf(plane, join(folder, `${part}.kubeconfig`), await tokenOf(admin, namespace, part, {}))
    writeFileSync(join(folder, 'token'), await managerToken(admin, namespace))
    const [metricsPort] = await freePorts()
    const gateway = await GatewayProcess.start({
      kubeconfig: await config('gateway'),
      namespace,
      dataDir: join(folder, 'contents'),
      args: await argsOf(admin, namespace, 'gateway'),
    })
    // What the kubelet tells every pod.
    const told = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' }
    const manager = {
      args: [
        ...(await argsOf(admin, namespace, 'manager')),
        `--gateway-url=https://localhost:${gateway.port}`,
        `--token-file=${join(folder, 'token')}`,
        `--metrics-port=${metricsPort}`,
      ],
      env: { KUBECONFIG: await config('manager'), POD_NAMESPACE: namespace, ...told },
    }
    return new RunningRelease({ manager, metricsPort, gateway, namespace, folder, caPem })
  }

  get manager(): ManagerKeeper {
    return this.#manager
  }

  /** Ends the manager, and starts it with further arguments. */
  async restartManager(...args: readonly string[]): Promise<void> {
    await this.#manager.stop()
    const { manager } = this.#options
    this.#manager = new ManagerKeeper({ ...manager, args: [...manager.args, ...args] })
  }

  /** What the manager says of its readiness. */
  async readiness(): Promise<{ readonly status: number; readonly text: string }> {
    const answer = await fetch(`http://127.0.0.1:${this.#options.metricsPort}/readyz`)
    return { status: answer.status, text: await answer.text() }
  }

  /** The gateway as pods reach it. */
  get api(): RunApi {
    const { gateway, namespace, caPem } = this.#options
    const target = { port: gateway.port, namespace, caPem }
    return {
      self: (token) => callGateway(target, '/runs/v1/self', { token }),
      report: (token, body) => callGateway(target, '/runs/v1/self/result', { method: 'POST', token, body }),
    }
  }

  /** What manager and gateway logged, for people. */
  get complaints(): string {
    return `${this.#manager.complaints}\n${this.#options.gateway.output.split('\n').slice(-20).join('\n')}`
  }

  async stop(): Promise<void> {
    await this.#manager.stop()
    await this.#options.gateway.kill()
    rmSync(this.#options.folder, { recursive: true, force: true })
  }
}

interface Parts {
  readonly manager: ManagerSettings
  readonly metricsPort: number
  readonly gateway: GatewayProcess
  readonly namespace: string
  readonly folder: string
  readonly caPem: string
}

/** Arguments of the container, without the name of the command. */
async function argsOf(admin: KubeClient, namespace: string, part: string): Promise<string[]> {
  const { spec } = await admin.get(deploymentType, { namespace, name: `graphwright-${part}` })
  return spec.template.spec.containers[0]?.args.slice(1) ?? []
}

/** A kubeconfig with a token of the ServiceAccount, and no other credential. Returns its path. */
async function kubeconfigOf(plane: ControlPlane, path: string, token: string): Promise<string> {
  const { clusters } = load(readFileSync(plane.kubeconfig, 'utf8')) as { clusters: { name: string }[] }
  const user = { name: 'process', user: { token } }
  const context = { name: 'process', context: { cluster: clusters[0]?.name, user: user.name } }
  const config = { apiVersion: 'v1', kind: 'Config', clusters, users: [user], contexts: [context] }
  writeFileSync(path, dump({ ...config, 'current-context': context.name }))
  return path
}

async function tokenOf(admin: KubeClient, namespace: string, part: string, spec: Partial<TokenRequest['spec']>) {
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', namespace, name: `graphwright-${part}` }
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: spec as TokenRequest['spec'] }
  const { status } = await admin.createSubresource<TokenRequest>(account, 'token', request)
  return status?.token ?? ''
}

/** A token as the kubelet projects it for the pod of the manager, which the Deployment makes and no node runs. */
async function managerToken(admin: KubeClient, namespace: string): Promise<string> {
  const pod = await eventually(async () => {
    const { items } = await admin.list<Pod>(podType, {
      namespace,
      labelSelector: 'app.kubernetes.io/component=manager',
    })
    return items[0] ?? false
  })
  const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: pod.metadata.name, uid: pod.metadata.uid ?? '' }
  return tokenOf(admin, namespace, 'manager', { audiences: ['graphwright'], boundObjectRef })
}

/** Makes the pods of the manager ready, as the kubelet of a node would. */
export async function makeManagersReady(admin: KubeClient, namespace: string): Promise<void> {
  await managerToken(admin, namespace)
  const labelSelector = 'app.kubernetes.io/component=manager'
  const { items } = await admin.list<Pod>(podType, { namespace, labelSelector })
  const conditions = [{ type: 'Ready', status: 'True' }]
  for (const { metadata } of items) {
    const ref = { apiVersion: 'v1', kind: 'Pod', namespace, name: metadata.name }
    await admin.mergePatch(ref, { status: { phase: 'Running', conditions } }, { subresource: 'status' })
  }
  await eventually(async () => {
    const { status } = await admin.get(deploymentType, { namespace, name: 'graphwright-manager' })
    return (status?.readyReplicas ?? 0) > 0
  })
}
