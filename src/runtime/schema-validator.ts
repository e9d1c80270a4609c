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
  /** For one text, preparing its schema included; default 5 s. */
  readonly timeoutMillis?: number
  /** Heap of the worker; default 128 MiB. */
  readonly memoryMegabytes?: number
  readonly clock?: Pick<Clock, 'after'>
}

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
    this.#cancelTimeout = this.#clock.after(this.#timeoutMillis, () => this.#giveUp())
    const { id, text, schema } = job
    this.#worker?.postMessage({ id, text, schema } satisfies SchemaQuestion)
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
    const message = `checking against the schema took longer than ${seconds} s; make the schema or the text smaller`
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
