import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { TestContext } from 'vitest'
import { eventually } from '../../kit/eventually.ts'
import { compileCache, type ManagerSettings, type ToldWrite } from '../../kit/manager-process.ts'

const entry = new URL('../../kit/doomed-manager.ts', import.meta.url).pathname

export interface CandidateOptions extends ManagerSettings {
  /** Namespace of the Lease. */
  readonly leaseNamespace: string
  /** Of the test that it ends with, in whatever state it is then. */
  readonly onTestFinished: TestContext['onTestFinished']
}

/** A `graphwright manager --leader-elect` in a process of its own. */
export class Candidate {
  /** Writes that were answered with success. */
  readonly writes: ToldWrite[] = []
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>
  readonly #child: ChildProcess
  readonly #port: number
  #output = ''

  private constructor({ args, env, leaseNamespace, onTestFinished }: CandidateOptions, port: number) {
    const election = ['--leader-elect', `--leader-election-namespace=${leaseNamespace}`, `--metrics-port=${port}`]
    this.#port = port
    this.#child = spawn(process.execPath, [entry, ...args, ...election], {
      env: { ...process.env, NODE_COMPILE_CACHE: compileCache, ...env },
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    })
    const [, stdout, stderr, told] = this.#child.stdio as unknown as [unknown, Readable, Readable, Readable]
    for (const stream of [stdout, stderr]) {
      stream.on('data', (chunk: Buffer) => {
        this.#output += chunk.toString()
      })
    }
    createInterface({ input: told }).on('line', (line) => {
      const { moment, ...write } = JSON.parse(line) as ToldWrite & { readonly moment: string }
      if (moment === 'after') this.writes.push(write)
    })
    this.ended = once(this.#child, 'close').then(([code, signal]) => ({ code, signal }))
    onTestFinished(() => void this.#child.kill('SIGKILL'))
  }

  /** Resolves when it is ready: it leads, or stands by with warm caches. */
  static async start(options: CandidateOptions): Promise<Candidate> {
    const candidate = new Candidate(options, await freePort())
    await eventually(() => candidate.#isReady(), { timeout: 40_000, interval: 50 })
    return candidate
  }

  /** What it logged. */
  get output(): string {
    return this.#output
  }

  /** Name by which the Lease knows it; it has one from the moment that its caches are warm. */
  get identity(): string {
    const line = this.#output.split('\n').find((each) => each.includes('waiting for the lead'))
    if (line === undefined) throw new Error(`it does not take part yet:\n${this.#output}`)
    return (JSON.parse(line) as { identity: string }).identity
  }

  /** What its metrics say. */
  async leads(): Promise<boolean> {
    const text = await this.metrics()
    return /^leader_election_master_status\{name="graphwright-manager"\} 1$/m.test(text)
  }

  async metrics(): Promise<string> {
    return (await fetch(`http://127.0.0.1:${this.#port}/metrics`)).text()
  }

  signal(name: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(name)
  }

  async #isReady(): Promise<boolean> {
    if (this.#child.exitCode !== null) throw new Error(`it ended with ${this.#child.exitCode}:\n${this.#output}`)
    const { status } = await fetch(`http://127.0.0.1:${this.#port}/readyz`)
    return status === 200 && this.#output.includes('waiting for the lead')
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  await once(server.close(), 'close')
  return port
}
