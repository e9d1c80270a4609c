import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { operatorNamespace, root } from '../../../hack/operator.ts'
import { installation } from '../../../src/api/installation.ts'
import { kinds } from '../../../src/api/kinds.ts'
import { KubeClient } from '../../../src/kube/client.ts'
import { loadKubeConfig } from '../../../src/kube/config.ts'
import { coreTypes } from '../../../src/kube/core-types.ts'
import { Transport } from '../../../src/kube/transport.ts'
import type { KubeObject, ResourceType } from '../../../src/lib/object.ts'
import { type ControlPlane, startControlPlane } from '../../kit/cluster-tool.ts'
import { eventually } from '../../kit/eventually.ts'

export const cronJobType: ResourceType<KubeObject> = {
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  plural: 'cronjobs',
  namespaced: true,
}

/** As fast as Kubernetes' own controllers go: at its defaults the CronJob controller makes nine Jobs a second. */
const fastControllers = ['kube-api-qps=5000', 'kube-api-burst=10000', 'concurrent-cron-job-syncs=50']

const tokenSeconds = 7200
const ticksPerSecond = 100

/**
 * A control plane with what manifests/install.yaml installs, and the manager as a process of its own: the bundle that is
 * in the image, as the ServiceAccount that the chart gives it.
 */
export class DuePlane {
  readonly client: KubeClient
  readonly kubeconfig: string
  readonly #plane: ControlPlane
  readonly #manager: ChildProcess
  readonly #metricsPort: number

  private constructor(plane: ControlPlane, client: KubeClient, manager: ChildProcess, metricsPort: number) {
    this.client = client
    this.kubeconfig = plane.kubeconfig
    this.#plane = plane
    this.#manager = manager
    this.#metricsPort = metricsPort
  }

  /** Needs the bundles. Resolves when the manager leads. */
  static async start(): Promise<DuePlane> {
    const plane = await startControlPlane({ controllerManagerFlags: fastControllers.map((flag) => `--${flag}`) })
    try {
      const client = clientOf(plane.kubeconfig)
      await install(plane.kubeconfig)
      const metricsPort = await freePort()
      const kubeconfig = await managerKubeconfig(plane, client)
      const due = new DuePlane(plane, client, startManager(kubeconfig, metricsPort), metricsPort)
      await eventually(() => due.#leads(), { timeout: 60_000, interval: 200 })
      return due
    } catch (error) {
      await plane.stop()
      throw error
    }
  }

  async stop(): Promise<void> {
    this.#manager.kill('SIGTERM')
    await once(this.#manager, 'exit')
    await this.client.transport.close()
    await this.#plane.stop()
  }

  /** Seconds of processor time that the operator and the servers have used so far. */
  processorSeconds(): Readonly<Record<'manager' | 'kube-controller-manager' | 'kube-apiserver' | 'etcd', number>> {
    const server = (name: string) => processorSecondsOf(pidIn(this.#plane.dir, name))
    return {
      manager: processorSecondsOf(this.#manager.pid ?? 0),
      'kube-controller-manager': server('kube-controller-manager'),
      'kube-apiserver': server('kube-apiserver'),
      etcd: server('etcd'),
    }
  }

  /** Requests that the manager has sent so far. */
  async requests(): Promise<number> {
    const lines = [...(await this.metrics()).matchAll(/^rest_client_requests_total\{.*\} (\d+)$/gm)]
    return lines.reduce((sum, [, count]) => sum + Number(count), 0)
  }

  /** What the manager tells Prometheus. */
  async metrics(): Promise<string> {
    const answer = await fetch(`http://127.0.0.1:${this.#metricsPort}/metrics`)
    return answer.text()
  }

  async #leads(): Promise<boolean> {
    if (this.#manager.exitCode !== null) throw new Error('the manager has ended; its log stands above')
    return /^leader_election_master_status\{.*\} 1$/m.test(await this.metrics())
  }
}

function clientOf(kubeconfig: string): KubeClient {
  return new KubeClient(new Transport(loadKubeConfig({ kubeconfig })), [...coreTypes, ...kinds, cronJobType])
}

async function install(kubeconfig: string): Promise<void> {
  const manifest = join(root, 'manifests/install.yaml')
  const args = ['kubectl', '--kubeconfig', kubeconfig, 'apply', '--server-side', '-f', manifest]
  await promisify(execFile)(join(root, 'hack/cluster/cluster'), args)
}

interface TokenRequest extends KubeObject {
  readonly spec: { readonly expirationSeconds: number }
  readonly status: { readonly token: string }
}

/** A kubeconfig with a token of the manager's ServiceAccount. */
async function managerKubeconfig(plane: ControlPlane, admin: KubeClient): Promise<string> {
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', namespace: operatorNamespace }
  const ref = { ...account, name: installation.managerServiceAccount }
  const wanted = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: tokenSeconds },
  }
  const { status } = await admin.createSubresource<TokenRequest>(ref, 'token', wanted)
  const [cluster] = loadKubeConfig({ kubeconfig: plane.kubeconfig }).getClusters()
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'due', cluster: { server: cluster?.server, 'certificate-authority-data': cluster?.caData } }],
    users: [{ name: 'manager', user: { token: status.token } }],
    contexts: [{ name: 'due', context: { cluster: 'due', user: 'manager' } }],
    'current-context': 'due',
  }
  const path = join(plane.dir, 'manager.kubeconfig')
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 })
  return path
}

function startManager(kubeconfig: string, metricsPort: number): ChildProcess {
  const port = `--metrics-port=${metricsPort}`
  const flags = ['--runner-image=registry.example/graphwright:1', port, '--leader-elect', '--log-level=warn']
  return spawn(process.execPath, [join(root, 'dist/graphwright.cjs'), 'manager', ...flags], {
    env: { ...process.env, NODE_ENV: 'production', KUBECONFIG: kubeconfig, POD_NAMESPACE: operatorNamespace },
    stdio: ['ignore', process.stderr.fd, 'inherit'],
  })
}

function pidIn(dir: string, server: string): number {
  return Number.parseInt(readFileSync(`${dir}/run/${server}.pid`, 'utf8'), 10)
}

/** User and system time of a process: the 14th and 15th field of its stat, counted behind the name in parentheses. */
function processorSecondsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
