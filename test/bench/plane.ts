import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { loadAll } from 'js-yaml'
import { operatorNamespace, root } from '../../hack/operator.ts'
import { installation } from '../../src/api/installation.ts'
import { kinds } from '../../src/api/kinds.ts'
import { KubeClient } from '../../src/kube/client.ts'
import { loadKubeConfig } from '../../src/kube/config.ts'
import { coreTypes } from '../../src/kube/core-types.ts'
import { Transport } from '../../src/kube/transport.ts'
import type { KubeObject, ResourceType } from '../../src/lib/object.ts'
import { type ControlPlane, startControlPlane } from '../kit/cluster-tool.ts'
import { FaultProxy } from '../kit/fault-proxy.ts'
import { ToldMetrics } from '../kit/told-metrics.ts'

const manifest = join(root, 'manifests/install.yaml')
const tokenSeconds = 7200

/**
 * A control plane without nodes with what manifests/install.yaml installs, in which managers run as processes of their own:
 * the bundle that is in the image, as the ServiceAccount and with the environment that the manifest gives them.
 */
export class BenchPlane {
  readonly client: KubeClient
  readonly plane: ControlPlane
  /** Between the API server and a manager that is started `throughProxy`. */
  readonly proxy: FaultProxy
  readonly #token: string
  readonly #managers: BenchManager[] = []

  private constructor(plane: ControlPlane, client: KubeClient, proxy: FaultProxy, token: string) {
    this.client = client
    this.plane = plane
    this.proxy = proxy
    this.#token = token
  }

  /**
   * @param options.types what the client has to know beside Kubernetes' own kinds and ours
   * @param options.controllerManagerFlags such as `--kube-api-qps=5000`
   */
  static async start(
    options: {
      readonly types?: readonly ResourceType<KubeObject>[]
      readonly controllerManagerFlags?: readonly string[]
    } = {},
  ): Promise<BenchPlane> {
    const { types = [], controllerManagerFlags = [] } = options
    const plane = await startControlPlane({ controllerManagerFlags })
    try {
      const transport = new Transport(loadKubeConfig({ kubeconfig: plane.kubeconfig }))
      const client = new KubeClient(transport, [...coreTypes, ...kinds, ...types])
      const args = ['kubectl', '--kubeconfig', plane.kubeconfig, 'apply', '--server-side', '-f', manifest]
      await promisify(execFile)(join(root, 'hack/cluster/cluster'), args)
      return new BenchPlane(plane, client, await FaultProxy.start(plane.server), await managerToken(client))
    } catch (error) {
      await plane.stop()
      throw error
    }
  }

  /** Starts a manager. Needs the bundles. */
  async startManager({ throughProxy = false } = {}): Promise<BenchManager> {
    const server = throughProxy ? this.proxy.url : this.plane.server
    const port = await freePort()
    const flags = ['--runner-image=registry.example/graphwright:1', `--metrics-port=${port}`, '--leader-elect']
    const profile = process.env.GRAPHWRIGHT_PROFILE
    const profiling = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]
    const program = join(root, 'dist/graphwright.cjs')
    const startedAt = performance.now()
    const child = spawn(process.execPath, [...profiling, program, 'manager', ...flags, '--log-level=error'], {
      env: {
        ...process.env,
        ...settings(),
        NODE_ENV: 'production',
        KUBECONFIG: managerKubeconfig(this.plane, server, this.#token),
        POD_NAMESPACE: operatorNamespace,
      },
      stdio: ['ignore', process.stderr.fd, 'inherit'],
    })
    const manager = new BenchManager(child, port, startedAt)
    this.#managers.push(manager)
    return manager
  }

  /** Ends it with every manager that still runs. */
  async stop(): Promise<void> {
    await Promise.all(this.#managers.map((manager) => manager.stop()))
    await Promise.all([this.client.transport.close(), this.proxy.close()])
    await this.plane.stop()
  }
}

/** Mebibytes. */
export interface Memory {
  readonly resident: number
  /** The most that was ever resident. */
  readonly peak: number
}

/** A manager in a process of its own. */
export class BenchManager {
  /** By `performance.now()`. */
  readonly startedAt: number
  readonly #child: ChildProcess
  readonly #port: number

  constructor(child: ChildProcess, port: number, startedAt: number) {
    this.#child = child
    this.#port = port
    this.startedAt = startedAt
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** True when `/readyz` says so. */
  async isReady(): Promise<boolean> {
    return (await this.#get('/readyz'))?.ok === true
  }

  /** Undefined while it does not answer. */
  async metrics(): Promise<ToldMetrics | undefined> {
    const answer = await this.#get('/metrics')
    return answer === undefined ? undefined : new ToldMetrics(await answer.text())
  }

  memory(): Memory {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8')
    const mebibytes = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024
    return { resident: mebibytes('VmRSS'), peak: mebibytes('VmHWM') }
  }

  /** Ends it in order, as a Deployment does. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    this.#child.kill('SIGTERM')
    await once(this.#child, 'exit')
  }

  async #get(path: string): Promise<Response | undefined> {
    if (this.#child.exitCode !== null) throw new Error('the manager has ended; its log stands above')
    return fetch(`http://127.0.0.1:${this.#port}${path}`).catch(() => undefined)
  }
}

interface Deployment extends KubeObject {
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly Container[] } } }
}

interface Container {
  readonly env: readonly { readonly name: string; readonly value?: string }[]
  readonly resources: { readonly limits: { readonly memory: string } }
}

/** What the manifest sets in the manager's environment. No memory limit holds here: a part of it is named instead. */
function settings(): Readonly<Record<string, string>> {
  const objects = loadAll(readFileSync(manifest, 'utf8')) as Deployment[]
  const name = installation.managerServiceAccount
  const manager = objects.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === name)
  const container = manager?.spec.template.spec.containers[0]
  const mebibytes = Number(/^(\d+)Mi$/.exec(container?.resources.limits.memory ?? '')?.[1])
  const named = (value: string) =>
    value.replace(/--max-old-space-size-percentage=(\d+)/, (_, percent) => {
      return `--max-old-space-size=${Math.floor((mebibytes * Number(percent)) / 100)}`
    })
  const entries = container?.env ?? []
  return Object.fromEntries(entries.flatMap(({ name, value }) => (value === undefined ? [] : [[name, named(value)]])))
}

interface TokenRequest extends KubeObject {
  readonly spec: { readonly expirationSeconds: number }
  readonly status: { readonly token: string }
}

/** A token of the manager's ServiceAccount. */
async function managerToken(admin: KubeClient): Promise<string> {
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', namespace: operatorNamespace }
  const ref = { ...account, name: installation.managerServiceAccount }
  const spec = { expirationSeconds: tokenSeconds }
  const wanted = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec }
  const { status } = await admin.createSubresource<TokenRequest>(ref, 'token', wanted)
  return status.token
}

/** Path of a kubeconfig with this token for this address. */
function managerKubeconfig(plane: ControlPlane, server: string, token: string): string {
  const [cluster] = loadKubeConfig({ kubeconfig: plane.kubeconfig }).getClusters()
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'bench', cluster: { server, 'certificate-authority-data': cluster?.caData } }],
    users: [{ name: 'manager', user: { token } }],
    contexts: [{ name: 'bench', context: { cluster: 'bench', user: 'manager' } }],
    'current-context': 'bench',
  }
  const path = join(plane.dir, `manager-${new URL(server).port}.kubeconfig`)
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 })
  return path
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
