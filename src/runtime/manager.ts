import type { KubeClient } from '../kube/client.ts'
import type { EventRecorder } from '../kube/events.ts'
import type { WatchTiming } from '../kube/pacing.ts'
import type { KubeObject, ObjectRef, Resource, ResourceType } from '../lib/object.ts'
import { Applied } from './applied.ts'
import type { CacheOptions } from './cached-kind.ts'
import { Caches } from './caches.ts'
import type { Clock } from './clock.ts'
import type { ControllerSpec, StatusBase } from './controller.ts'
import { EventLoopYield } from './event-loop-yield.ts'
import type { Leadership } from './leadership.ts'
import type { Logger } from './log.ts'
import type { Metrics } from './metrics.ts'
import type { EventInput, Reader } from './result.ts'
import { TimelyWork } from './timely-work.ts'
import { type AnyController, Worker, type WorkerOptions } from './worker.ts'
import { type Faults, Writer } from './writer.ts'

export interface ManagerOptions {
  readonly client: KubeClient
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
  readonly events: Pick<EventRecorder, 'record' | 'flush'>
  /** Namespaces to look at; default all. */
  readonly namespaces?: readonly string[]
  /** Freeze what is cached: tests find whoever changes it. */
  readonly freeze?: boolean
  /** Tests do not wait for minutes until a watch counts as silent, or ends. */
  readonly silenceMillis?: number
  readonly watchTiming?: Partial<WatchTiming>
  /** Crash tests stop the process at a write of their choice. */
  readonly faults?: Faults
  /** Only the elected process runs controllers and runnables; default: this one does. */
  readonly leadership?: Leadership
  /** A runnable failed, or the lead was lost: the process is of no use any more. Default: throws, which ends it. */
  readonly onFatal?: (error: unknown) => void
}

/** Something that runs beside the controllers until the signal is aborted. */
interface Runnable {
  readonly name: string
  readonly run: (signal: AbortSignal) => Promise<void>
}

const defaultDrainMillis = 20_000
/** What does not end on its signal within this time is left behind. */
const lastWordsMillis = 2000

/** The controllers of a process with the caches they share: starts them in order, and stops them in order. */
export class Manager {
  readonly #options: ManagerOptions
  readonly #caches: Caches
  readonly #shared: WorkerOptions
  readonly #workers: Worker[] = []
  readonly #runnables: Runnable[] = []
  readonly #stopRunnables = new AbortController()
  readonly #stopCaches = new AbortController()
  /** Ends passes at work that are not waited for any longer. */
  readonly #cutWork = new AbortController()
  readonly #running: Promise<void>[] = []
  #state: 'new' | 'starting' | 'running' | 'stopping' = 'new'

  constructor(options: ManagerOptions) {
    this.#options = options
    const { client, clock, log, metrics, events, namespaces, faults, leadership } = options
    this.#caches = new Caches({
      client,
      namespaces,
      freeze: options.freeze,
      silenceMillis: options.silenceMillis,
      watchTiming: options.watchTiming,
      onRestart: (type, reason, message) => {
        metrics.watchRestarted(type.kind, reason)
        const fields = { kind: type.kind, reason, detail: message }
        // What is forbidden is tried for ever, and told once for each namespace.
        const isTold = reason === 'forbidden' && namespaces !== undefined
        if (reason === 'closed' || isTold) log.debug(fields, 'watch starts again')
        else log.warn(fields, 'watch broke and starts again')
      },
      onServed: (namespace, refusal) => {
        metrics.served(namespace, refusal === undefined)
        if (refusal === undefined) log.info({ namespace }, 'namespace is served')
        else log.warn({ namespace, detail: refusal }, 'namespace is not served')
      },
    })
    metrics.watchSilences(() => this.#caches.silences())
    this.#shared = {
      client,
      caches: this.#caches,
      writer: new Writer(client, { faults, mayWrite: leadership && (() => leadership.isHeld) }),
      applied: new Applied(),
      clock,
      log,
      metrics,
      eventLoopYield: new EventLoopYield(),
      record: (event) => record(events, event),
      timely: new TimelyWork(clock),
    }
  }

  /** The caches. */
  get read(): Reader {
    return this.#caches
  }

  /** Caches a kind, with indexes of its own if wanted. Before the start. */
  informer<T extends KubeObject>(type: ResourceType<T>, options: CacheOptions<T> = {}): void {
    this.#caches.declare(type, options)
  }

  /** Before the start. */
  addController<T extends Resource<unknown, S>, S extends StatusBase>(spec: ControllerSpec<T, S>): void {
    const worker = new Worker(spec as unknown as AnyController, this.#shared)
    worker.subscribe()
    this.#workers.push(worker)
  }

  /** Starts with the controllers and stops before the caches. Its failure is fatal. Before the start. */
  addRunnable(name: string, run: (signal: AbortSignal) => Promise<void>): void {
    this.#runnables.push({ name, run })
  }

  /**
   * Fills the caches, waits until this process is elected, then starts the controllers and runnables. Resolves when they
   * run, or when the manager stops before.
   */
  async start(): Promise<void> {
    if (this.#state !== 'new') throw new Error('a manager starts once')
    this.#state = 'starting'
    this.#keep('caches', this.#caches.start(this.#stopCaches.signal))
    await Promise.race([this.#caches.synced(), aborted(this.#stopCaches.signal)])
    if (this.#isStopping()) return
    if ((await this.#isElected()) && !this.#isStopping()) this.#lead()
  }

  /** Why the process should get no traffic now; empty when it is ready. */
  problems(): string[] {
    if (this.#isStopping()) return ['stopping']
    const { leadership } = this.#options
    const problems = this.#caches.problems()
    return leadership?.problem === undefined ? problems : [...problems, leadership.problem]
  }

  /** What the process cannot do while it is ready: the namespaces that it cannot serve, with the missing rights. */
  limits(): string[] {
    return this.#caches.refusals()
  }

  /**
   * Takes no more work, waits for what is in work up to the deadline, then stops runnables and caches, gives the lead up
   * and hands over the last events.
   */
  async stop(drainMillis: number = defaultDrainMillis): Promise<void> {
    if (this.#isStopping()) return
    this.#state = 'stopping'
    const { clock, events, leadership } = this.#options
    const cancel = clock.after(drainMillis, () => this.#cutWork.abort())
    await Promise.all(this.#workers.map((worker) => worker.stop(this.#cutWork.signal)))
    cancel()
    this.#stopRunnables.abort()
    this.#stopCaches.abort()
    const ended = Promise.all(this.#running).then(() => true)
    const hasEnded = await Promise.race([ended, clock.sleep(lastWordsMillis).then(() => false)])
    await leadership?.leave(hasEnded)
    await events.flush()
  }

  /** A method, because the state changes while others wait. */
  #isStopping(): boolean {
    return this.#state === 'stopping'
  }

  /** Waits for the lead. The caches are warm by then, so that the elected process works at once. */
  async #isElected(): Promise<boolean> {
    const { leadership } = this.#options
    if (leadership === undefined) return true
    try {
      return await leadership.acquire(aborted(this.#stopCaches.signal), (error) => this.#lose(error))
    } catch (error) {
      this.#die('leader election', error)
      return false
    }
  }

  /** Nothing may be done any more: another process leads, or will in a moment. */
  #lose(error: unknown): void {
    this.#cutWork.abort()
    for (const worker of this.#workers) void worker.stop(this.#cutWork.signal)
    this.#stopRunnables.abort()
    this.#die('leader election', error)
  }

  /** What only one process at a time should do. */
  #lead(): void {
    this.#state = 'running'
    for (const worker of this.#workers) this.#keep(worker.spec.name, worker.run())
    for (const { name, run } of this.#runnables) this.#keep(name, run(this.#stopRunnables.signal))
    this.#options.log.info({ controllers: this.#workers.map(({ spec }) => spec.name) }, 'controllers run')
  }

  /** Remembers what has to end before {@link stop} does. */
  #keep(name: string, running: Promise<void>): void {
    this.#running.push(running.catch((error: unknown) => this.#die(name, error)))
  }

  #die(name: string, error: unknown): void {
    if (this.#isStopping()) {
      this.#options.log.warn({ error, part: name }, 'failed while stopping')
      return
    }
    this.#options.log.error({ error, part: name }, 'part of the process failed')
    const { onFatal = throwLater } = this.#options
    onFatal(error)
  }
}

function record(events: Pick<EventRecorder, 'record'>, event: EventInput & { readonly regarding: ObjectRef }): void {
  const { type, reason, note, action } = event
  events.record(event.regarding, { type, reason, note, action })
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

/** Ends the process by the handler of uncaught exceptions. */
function throwLater(error: unknown): void {
  setImmediate(() => {
    throw error
  })
}
