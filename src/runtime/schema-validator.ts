import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { DeepReadonly } from '../lib/readonly.ts'
import { type Clock, systemClock } from './clock.ts'
import type { SchemaMessage, SchemaQuestion, SchemaVerdict } from './schema-protocol.ts'

/** Parses texts strictly and checks them against JSON Schemas of users. */
export interface SchemaValidator {
  /** Never rejects because of the text or the schema: every refusal is a verdict. */
  validate(text: string, schema: DeepReadonly<Record<string, unknown>>): Promise<SchemaVerdict>
}

export interface SchemaValidatorOptions {
  /**
   * Computing time of one text, preparing its schema included; default 5 s. Time in which a busy machine does not let
   * the worker run is not counted: a good answer must not fail for what runs beside it.
   */
  readonly timeoutMillis?: number
  /** Heap of the worker; default 128 MiB. */
  readonly memoryMegabytes?: number
  readonly clock?: Pick<Clock, 'after'>
}

/** So that the last bit of a worker's time is not asked after again and again. */
const shortestLookMillis = 100

interface Job extends SchemaQuestion {
  readonly resolve: (verdict: SchemaVerdict) => void
  readonly reject: (error: unknown) => void
}

/**
 * {@link SchemaValidator} over one worker thread with a limit on time and memory. Texts are checked one at a time. The
 * worker is kept; it is ended when a text exceeds a limit, and the next text gets a new one. It does not keep the
 * process alive.
 */
export class WorkerSchemaValidator implements SchemaValidator {
  readonly #timeoutMillis: number
  readonly #memoryMegabytes: number
  readonly #clock: Pick<Clock, 'after'>
  readonly #queue: Job[] = []
  #worker: Worker | undefined
  #listening = false
  #current: Job | undefined
  #cancelTimeout = () => {}
  #count = 0
  #closed = false

  constructor(options: SchemaValidatorOptions = {}) {
    this.#timeoutMillis = options.timeoutMillis ?? 5000
    this.#memoryMegabytes = options.memoryMegabytes ?? 128
    this.#clock = options.clock ?? systemClock
  }

  validate(text: string, schema: DeepReadonly<Record<string, unknown>>): Promise<SchemaVerdict> {
    if (this.#closed) return Promise.reject(new Error('the schema validator is closed'))
    return new Promise((resolve, reject) => {
      this.#count += 1
      this.#queue.push({ id: this.#count, text, schema, resolve, reject })
      this.#next()
    })
  }

  /** Starts the worker ahead of the first text, which then does not wait for it. */
  warm(): void {
    if (!this.#closed) this.#worker ??= this.#start()
  }

  /** Ends the worker. What is not answered is rejected. */
  async close(): Promise<void> {
    this.#closed = true
    const worker = this.#worker
    this.#discard()
    for (const job of this.#queue.splice(0)) job.reject(new Error('the schema validator is closed'))
    await worker?.terminate()
  }

  #next(): void {
    if (this.#current !== undefined || this.#closed || this.#queue.length === 0) return
    this.warm()
    // The time of a text does not run while the worker starts.
    if (!this.#listening) return
    const job = this.#queue.shift()
    if (job === undefined) return
    this.#current = job
    void this.#put(job).catch(() => {
      // A worker that cannot be asked has ended, and says why by its error.
    })
  }

  async #put(job: Job): Promise<void> {
    const worker = this.#worker
    const before = await worker?.cpuUsage()
    if (worker === undefined || before === undefined || this.#current !== job) return
    this.#limit(worker, job, before, this.#timeoutMillis)
    const { id, text, schema } = job
    worker.postMessage({ id, text, schema } satisfies SchemaQuestion)
  }

  /** Looks after as much time as is left whether the worker has had it. */
  #limit(worker: Worker, job: Job, before: NodeJS.CpuUsage, leftMillis: number): void {
    const look = async () => {
      const { user, system } = await worker.cpuUsage(before)
      if (this.#current !== job) return
      const left = this.#timeoutMillis - (user + system) / 1000
      if (left <= 0) this.#giveUp()
      else this.#limit(worker, job, before, Math.max(left, shortestLookMillis))
    }
    this.#cancelTimeout = this.#clock.after(leftMillis, () => void look().catch(() => {}))
  }

  #start(): Worker {
    const worker = new Worker(workerFile(), {
      resourceLimits: { maxOldGenerationSizeMb: this.#memoryMegabytes },
      // Options such as --watch or a test runner's loaders are of no use to it.
      execArgv: [],
    })
    worker.unref()
    worker.on('message', (message: SchemaMessage) => this.#onMessage(worker, message))
    worker.on('error', (error) => this.#onError(worker, error))
    return worker
  }

  #onMessage(worker: Worker, message: SchemaMessage): void {
    if (worker !== this.#worker) return
    if (message === 'ready') this.#listening = true
    else if (message.id === this.#current?.id) this.#answer(message.verdict)
    this.#next()
  }

  #answer(verdict: SchemaVerdict): void {
    this.#cancelTimeout()
    const job = this.#current
    this.#current = undefined
    job?.resolve(verdict)
  }

  #giveUp(): void {
    const worker = this.#worker
    const seconds = this.#timeoutMillis / 1000
    const message = `checking against the schema took more than ${seconds} s of computing; make the schema or the text smaller`
    this.#answer({ kind: 'invalid', reason: 'schema_timeout', message })
    this.#discard()
    void worker?.terminate()
    this.#next()
  }

  /** The worker is gone: out of memory, or broken. */
  #onError(worker: Worker, error: unknown): void {
    if (worker !== this.#worker) return
    const job = this.#current
    if (isOutOfMemory(error)) {
      const message = `checking against the schema took more than ${this.#memoryMegabytes} MiB; make the schema or the text smaller`
      this.#answer({ kind: 'invalid', reason: 'schema_memory_exceeded', message })
    } else {
      this.#cancelTimeout()
      this.#current = undefined
      // A worker that does not even start would be started for ever: tell whoever waits.
      const unanswered = job === undefined ? this.#queue.splice(0) : [job]
      for (const { reject } of unanswered) reject(new Error('the schema worker failed', { cause: error }))
    }
    this.#discard()
    this.#next()
  }

  #discard(): void {
    this.#cancelTimeout()
    this.#worker = undefined
    this.#listening = false
    const job = this.#current
    this.#current = undefined
    job?.reject(new Error('the schema validator is closed'))
  }
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
}

/** The worker's program: a bundle beside this bundle, or the source beside this source. */
function workerFile(): string {
  // In a CommonJS bundle import.meta is empty, in a module there is no __dirname.
  const directory = import.meta.dirname ?? __dirname
  const bundle = join(directory, 'schema-worker.cjs')
  return existsSync(bundle) ? bundle : join(directory, 'schema-worker.ts')
}
