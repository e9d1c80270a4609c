import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Readable } from 'node:stream'
import { eventually } from './eventually.ts'
import { compileCache } from './manager-process.ts'

export interface GatewaySettings {
  readonly kubeconfig: string
  /** Namespace of the installation. */
  readonly namespace: string
  readonly dataDir: string
  /** Further arguments. */
  readonly args?: readonly string[]
}

const thisGateway = new URL('tied-gateway.ts', import.meta.url).pathname

/** A `graphwright gateway` in a process of its own, on the same port and data in every life. */
export class GatewayProcess {
  readonly port: number
  kills = 0
  /** Path of what is started; default this very release. */
  entry = thisGateway
  readonly #metricsPort: number
  readonly #settings: GatewaySettings
  #child: ChildProcess | undefined
  #output = ''

  private constructor(settings: GatewaySettings, port: number, metricsPort: number) {
    this.#settings = settings
    this.port = port
    this.#metricsPort = metricsPort
  }

  /** Its certificate has to be there. Resolves when it is ready. */
  static async start(settings: GatewaySettings): Promise<GatewayProcess> {
    const [port, metricsPort] = await freePorts()
    const gateway = new GatewayProcess(settings, port, metricsPort)
    await gateway.start()
    return gateway
  }

  /** What it logged, in all its lives. */
  get output(): string {
    return this.#output
  }

  async start(): Promise<void> {
    const { kubeconfig, namespace, dataDir, args: more = [] } = this.#settings
    const args = [...more, `--data-dir=${dataDir}`, `--port=${this.port}`, `--metrics-port=${this.#metricsPort}`]
    const child = spawn(process.execPath, [this.entry, ...args], {
      env: { ...process.env, NODE_COMPILE_CACHE: compileCache, KUBECONFIG: kubeconfig, POD_NAMESPACE: namespace },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.#child = child
    for (const stream of [child.stdout, child.stderr] as Readable[]) {
      stream.on('data', (chunk: Buffer) => {
        this.#output += chunk.toString()
      })
    }
    await eventually(() => this.#isReady(child), { timeout: 120_000, interval: 50 })
  }

  /** What its metrics say. */
  async metrics(): Promise<string> {
    return (await fetch(`http://127.0.0.1:${this.#metricsPort}/metrics`)).text()
  }

  /** With SIGKILL; {@link start} starts the next. Resolves when nothing of it is left. */
  async kill(): Promise<void> {
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    this.kills += 1
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  async #isReady(child: ChildProcess): Promise<boolean> {
    if (child.exitCode !== null) throw new Error(`the gateway ended with ${child.exitCode}:\n${this.#output}`)
    const { status } = await fetch(`http://127.0.0.1:${this.#metricsPort}/readyz`)
    return status === 200
  }
}

/** Two ports that nobody listens on at this moment. */
export async function freePorts(): Promise<[number, number]> {
  const servers = [createServer().listen(0, '127.0.0.1'), createServer().listen(0, '127.0.0.1')]
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const [port = 0, metricsPort = 0] = servers.map((server) => (server.address() as { port: number }).port)
  await Promise.all(servers.map((server) => once(server.close(), 'close')))
  return [port, metricsPort]
}
