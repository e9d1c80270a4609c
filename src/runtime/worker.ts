import { randomUUID } from 'node:crypto'
import type { KubeClient } from '../kube/client.ts'
import { isNotFound } from '../kube/error.ts'
import { type KubeObject, keyOf, type ObjectKey, type ObjectRef, type Resource } from '../lib/object.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import type { Applied } from './applied.ts'
import type { Caches } from './caches.ts'
import type { Clock } from './clock.ts'
import type { ControllerSpec, StatusBase } from './controller.ts'
import { Echoes } from './echoes.ts'
import type { EventLoopYield } from './event-loop-yield.ts'
import { Executor } from './executor.ts'
import { FailedPasses } from './failed-pass.ts'
import { Freshness } from './freshness.ts'
import type { Logger } from './log.ts'
import type { Metrics, ReconcileOutcome } from './metrics.ts'
import { OwnWrites } from './own-writes.ts'
import { WorkQueue } from './queue.ts'
import type { EventInput } from './result.ts'
import type { TimelyWork } from './timely-work.ts'
import { subscribe } from './wake.ts'
import { type World, worldOf } from './world.ts'
import type { Writer } from './writer.ts'

/** What all controllers of a process share. */
export interface WorkerOptions {
  readonly client: KubeClient
  readonly caches: Caches
  readonly writer: Writer
  readonly applied: Applied
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
  readonly eventLoopYield: EventLoopYield
  readonly record: (event: EventInput & { readonly regarding: ObjectRef }) => void
  readonly timely: TimelyWork
}

/** Kind of a controller whose status type no longer matters: it was checked where the controller was added. */
type Target = Resource<unknown, StatusBase>
export type AnyController = ControllerSpec<Target, StatusBase>

const ownWritePollMillis = 100
const stalePollMillis = 1000
const defaultConcurrency = 4

/** Runs one controller: takes keys from its queue and brings their objects where the reconciler wants them. */
export class Worker {
  readonly spec: AnyController
  readonly #options: WorkerOptions
  readonly #queue: WorkQueue
  readonly #ownWrites: OwnWrites
  readonly #world: World
  readonly #echoes = new Echoes()
  readonly #failed: FailedPasses
  readonly #freshness: Freshness
  readonly #abort = new AbortController()
  #isRunning = false

  constructor(spec: AnyController, options: WorkerOptions) {
    this.spec = spec
    this.#options = options
    const { clock, metrics, record, timely } = options
    metrics.controller(spec.name)
    this.#queue = new WorkQueue({ clock, observer: metrics.queue(spec.name), timely })
    this.#ownWrites = new OwnWrites(options.clock)
    this.#world = worldOf(options.client, options.caches)
    this.#freshness = new Freshness(spec, options.caches, options.log)
    this.#failed = new FailedPasses({ spec, queue: this.#queue, echoes: this.#echoes, clock, metrics, record })
  }

  /**
   * Subscribes to the kinds that wake this controller's keys. Before the caches start. What wakes keys before {@link run}
   * is not kept: a process may stand by for weeks, and keys of what has come and gone would pile up.
   */
  subscribe(): void {
    const { caches, log } = this.#options
    subscribe(this.spec, caches, log, {
      isAwake: () => this.#isRunning,
      wake: (key, priority) => this.#queue.add(key, priority),
      isNews: ({ key, object }) => this.#echoes.isNews(key, object.metadata.resourceVersion),
    })
    caches.onServed((namespace) => {
      if (this.#isRunning) this.#addAll(namespace)
    })
  }

  #addAll(namespace?: string): void {
    for (const { metadata } of this.#options.caches.list(this.spec.for, namespace)) {
      this.#queue.add(keyOf(metadata), 'list')
    }
  }

  /** Works until {@link stop}, at first on everything there is. The caches are synced. */
  async run(): Promise<void> {
    this.#isRunning = true
    this.#addAll()
    const count = this.spec.concurrency ?? defaultConcurrency
    await Promise.all(Array.from({ length: count }, () => this.#loop()))
  }

  /** Takes no more keys and waits for those in work; aborts them when the signal is aborted first. */
  async stop(deadline: AbortSignal): Promise<void> {
    await this.#queue.drain(deadline)
    this.#abort.abort(new Error('the process is stopping'))
  }

  async #loop(): Promise<void> {
    for (let key = await this.#queue.get(); key !== undefined; key = await this.#queue.get()) {
      await this.#work(key)
      this.#queue.done(key)
      await this.#options.eventLoopYield.ifDue()
    }
  }

  async #work(key: ObjectKey): Promise<void> {
    const object = this.#options.caches.get(this.spec.for, key)
    if (object === undefined || !this.#isOurs(object)) {
      this.#queue.forget(key)
      this.#ownWrites.forget(key)
      this.#echoes.forget(key)
      return
    }
    // What is seen of its namespace may be half of the truth. All its keys come back when it is whole.
    if (!this.#options.caches.serves(object.metadata.namespace)) {
      this.#queue.forget(key)
      return
    }
    if (!this.#freshness.isFresh(object.metadata.namespace)) {
      this.#queue.postpone(key, stalePollMillis)
      return
    }
    if (!this.#mayPass(key)) {
      this.#queue.postpone(key, ownWritePollMillis)
      return
    }
    await this.#pass(key, object)
  }

  /** An object that is being deleted is ours only while our finalizer is on it. */
  #isOurs(object: DeepReadonly<KubeObject>): boolean {
    if (object.metadata.deletionTimestamp === undefined) return true
    return this.#hasFinalizer(object)
  }

  #hasFinalizer(object: DeepReadonly<KubeObject>): boolean {
    const { finalizer } = this.spec
    return finalizer !== undefined && object.metadata.finalizers?.includes(finalizer) === true
  }

  /** The own-write barrier. */
  #mayPass(key: ObjectKey): boolean {
    const passage = this.#ownWrites.pass(key)
    if (!passage.go) return false
    if (passage.waitedSeconds > 0) this.#options.metrics.ownWriteWaited(this.spec.name, passage.waitedSeconds)
    if (passage.gaveUp) {
      const fields = { controller: this.spec.name, object: key, waitedSeconds: passage.waitedSeconds }
      this.#options.log.warn(fields, 'own write did not come back through the watch, going on without it')
    }
    return true
  }

  async #pass(key: ObjectKey, object: DeepReadonly<Target>): Promise<void> {
    const { clock, metrics } = this.#options
    const started = clock.monotonic()
    metrics.workers(this.spec.name, 1)
    const result = await this.#attempt(key, object, this.#logOf(object))
    metrics.workers(this.spec.name, -1)
    metrics.reconciled(this.spec.name, result, (clock.monotonic() - started) / 1000)
  }

  /** The log of a pass, made when it is first written to: mostly it is not. */
  #logOf({ kind, metadata: { name, namespace } }: DeepReadonly<Target>): () => Logger {
    let log: Logger | undefined
    return () => {
      const fields = { controller: this.spec.name, kind, namespace, name, reconcileId: randomUUID() }
      log ??= this.#options.log.child(fields)
      return log
    }
  }

  async #attempt(key: ObjectKey, object: DeepReadonly<Target>, log: () => Logger): Promise<ReconcileOutcome> {
    const executor = this.#executor(key, object)
    try {
      if (await this.#addFinalizer(key, object)) return 'success'
      const { caches, client, clock } = this.#options
      const started = clock.monotonic()
      const context = {
        read: caches,
        now: clock.now(),
        get log() {
          return log()
        },
        signal: this.#abort.signal,
        live: client,
      }
      const result = await this.spec.reconcile(object, context)
      const there = await executor.execute(result)
      this.#queue.forget(key)
      this.#echoes.forget(key)
      if (!there || result.after === undefined) return 'success'
      // Counted from the time that the pass went by: its writes may have taken long.
      const left = result.after - (clock.monotonic() - started)
      this.#queue.addAfter(key, left, this.spec.timely === true ? 'timely' : 'event')
      return 'requeue_after'
    } catch (error) {
      if (this.#abort.signal.aborted) return 'requeue'
      return this.#failed.handle({ key, object, executor, log: log() }, error)
    }
  }

  /** Returns true when the finalizer was missing: the object comes back with it. */
  async #addFinalizer(key: ObjectKey, object: DeepReadonly<Target>): Promise<boolean> {
    const { finalizer } = this.spec
    if (finalizer === undefined || this.spec.finalizerAddedBy === 'reconciler') return false
    if (this.#hasFinalizer(object)) return false
    const { writer, caches } = this.#options
    try {
      await writer.addFinalizer(object as Target, finalizer)
    } catch (error) {
      if (isNotFound(error)) return true
      throw error
    }
    this.#ownWrites.remember(key, () => {
      const cached = caches.get(this.spec.for, key)
      return cached === undefined || cached.metadata.deletionTimestamp !== undefined || this.#hasFinalizer(cached)
    })
    return true
  }

  #executor(key: ObjectKey, object: DeepReadonly<Target>): Executor {
    const { applied, metrics, record, writer } = this.#options
    return new Executor(object, {
      world: this.#world,
      writer,
      applied,
      record,
      count: (count) => metrics.count(count),
      fieldManager: this.spec.fieldManager,
      status: this.spec,
      finalizer: this.spec.finalizer,
      wrote: (seen) => this.#ownWrites.remember(key, seen),
    })
  }
}
