import type { ObjectKey } from '../lib/object.ts'
import { type BackOffOptions, backOffMillis, retryBackOff, TokenBucket } from './back-off.ts'
import type { Clock } from './clock.ts'
import { Deadlines } from './deadlines.ts'
import { isHigher, type Priority, priorities } from './priority.ts'
import type { TimelyWork } from './timely-work.ts'

/** Told what happens in a queue; see `metrics.ts`. Durations are in seconds. */
export interface QueueObserver {
  added(): void
  retried(): void
  /** Keys that are due and wait for a worker. */
  depth(keys: number): void
  waited(seconds: number): void
  worked(seconds: number): void
}

export interface WorkQueueOptions {
  readonly clock: Clock
  readonly backOff?: BackOffOptions
  readonly observer?: QueueObserver
  /** Shared by all queues of the process. */
  readonly timely?: TimelyWork
}

/** All keys together may be retried ten times a second after a burst of a hundred. */
const retriesPerSecond = 10
const retryBurst = 100

/**
 * A key that fails at its instant has its first retries to itself: of a thousand that fail together, because the API
 * server is away for a moment, the last would wait for the shared rate a minute and a half. Spread wide instead, they
 * do not come back in step either.
 */
const timelyRetries = 3
const timelyRetryJitter = 0.5

/**
 * Keys to be worked on. A key is never with two workers at once; adds of a key that waits collapse into one; an add
 * while the key is worked on brings it back afterwards. A key has at most one deadline, the earliest; a worker that
 * takes the key has seen everything the deadline was for, so it is dropped then, and not before: a key that waits when
 * its instant comes moves forward.
 */
export class WorkQueue {
  readonly #clock: Clock
  readonly #backOff: BackOffOptions
  readonly #observer: QueueObserver | undefined
  readonly #retries: TokenBucket
  readonly #timely: TimelyWork | undefined
  /** Due keys in order of arrival, with the time they became due. */
  readonly #due: Readonly<Record<Priority, Map<ObjectKey, number>>> = {
    timely: new Map(),
    event: new Map(),
    list: new Map(),
  }
  /** Keys with a worker, with the time it took them. */
  readonly #processing = new Map<ObjectKey, { readonly since: number; readonly priority: Priority }>()
  /** Keys added while they were worked on. */
  readonly #dirty = new Map<ObjectKey, Priority>()
  readonly #deadlines = new Deadlines()
  readonly #failures = new Map<ObjectKey, number>()
  readonly #idle: ((key: ObjectKey | undefined) => void)[] = []
  #timer: { readonly due: number; readonly cancel: () => void } | undefined
  #closed = false
  #onDrained: (() => void)[] = []

  constructor(options: WorkQueueOptions) {
    this.#clock = options.clock
    this.#backOff = options.backOff ?? retryBackOff
    this.#observer = options.observer
    this.#retries = new TokenBucket(options.clock, retriesPerSecond, retryBurst)
    this.#timely = options.timely
    this.#timely?.onRelease(() => this.#serve())
  }

  /** Keys that are due and not with a worker. */
  get depth(): number {
    return this.#due.timely.size + this.#due.event.size + this.#due.list.size
  }

  /** Keys that wait for their deadline. */
  get waiting(): number {
    return this.#deadlines.size
  }

  /** Makes the key due now. */
  add(key: ObjectKey, priority: Priority = 'event'): void {
    if (this.#closed) return
    this.#observer?.added()
    if (!this.#processing.has(key)) this.#makeDue(key, priority)
    else if (isHigher(priority, this.#dirty.get(key))) this.#dirty.set(key, priority)
  }

  /** Makes the key due in `millis` milliseconds, if it is not due before. */
  addAfter(key: ObjectKey, millis: number, priority: Priority = 'event'): void {
    if (this.#closed) return
    if (millis <= 0) {
      this.add(key, priority)
      return
    }
    // A key that is due already is looked at before; but it must not stand behind others when its instant comes.
    if (priority !== 'timely' && (this.#dirty.has(key) || this.#priorityOf(key) !== undefined)) return
    this.#deadlines.set(key, this.#clock.monotonic() + millis, priority)
    this.#arm()
  }

  /** Hands a key that could not be looked at yet out again after `millis` milliseconds, as what it was. By its worker. */
  postpone(key: ObjectKey, millis: number): void {
    this.addAfter(key, millis, this.#processing.get(key)?.priority)
  }

  /**
   * Makes the key due after a back-off that grows with every call until {@link forget}. Returns it, milliseconds. What its
   * worker was to do at an instant is still timely in the first retries.
   */
  retry(key: ObjectKey): number {
    const failures = (this.#failures.get(key) ?? 0) + 1
    this.#failures.set(key, failures)
    this.#observer?.retried()
    if (failures <= timelyRetries && this.#processing.get(key)?.priority === 'timely') {
      const millis = backOffMillis(failures, { ...this.#backOff, jitter: timelyRetryJitter })
      this.addAfter(key, millis, 'timely')
      return millis
    }
    const millis = Math.max(backOffMillis(failures, this.#backOff), this.#retries.reserve())
    this.addAfter(key, millis)
    return millis
  }

  /** Failures of the key in a row. */
  failures(key: ObjectKey): number {
    return this.#failures.get(key) ?? 0
  }

  /** The key succeeded or is gone: its next failure is its first. */
  forget(key: ObjectKey): void {
    this.#failures.delete(key)
  }

  /** The next key, as soon as one is due; undefined once the queue drains. The taker calls {@link done} for it. */
  get(): Promise<ObjectKey | undefined> {
    if (this.#closed) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      this.#idle.push(resolve)
      this.#serve()
    })
  }

  /** The worker is done with the key. */
  done(key: ObjectKey): void {
    const taken = this.#processing.get(key)
    if (taken === undefined) return
    this.#processing.delete(key)
    this.#observer?.worked((this.#clock.monotonic() - taken.since) / 1000)
    const again = this.#dirty.get(key)
    this.#dirty.delete(key)
    if (again !== undefined && !this.#closed) this.#makeDue(key, again)
    if (taken.priority === 'timely') this.#timely?.leave()
    if (this.#closed && this.#processing.size === 0) for (const drained of this.#onDrained.splice(0)) drained()
  }

  /**
   * Hands out and takes in nothing more. Resolves when no worker holds a key, or when the signal is aborted. Keys that
   * wait are dropped: whoever works next lists everything first.
   */
  async drain(signal?: AbortSignal): Promise<void> {
    this.#closed = true
    this.#timer?.cancel()
    this.#deadlines.clear()
    this.#dirty.clear()
    const dropped = this.#due.timely.size
    for (const keys of Object.values(this.#due)) keys.clear()
    for (let left = dropped; left > 0; left--) this.#timely?.leave()
    this.#observer?.depth(0)
    for (const resolve of this.#idle.splice(0)) resolve(undefined)
    if (this.#processing.size === 0 || signal?.aborted) return
    await new Promise<void>((resolve) => {
      this.#onDrained.push(resolve)
      signal?.addEventListener('abort', () => resolve(), { once: true })
    })
  }

  #priorityOf(key: ObjectKey): Priority | undefined {
    return priorities.find((priority) => this.#due[priority].has(key))
  }

  #makeDue(key: ObjectKey, priority: Priority): void {
    const present = this.#priorityOf(key)
    if (!isHigher(priority, present)) return
    const since = (present && this.#due[present].get(key)) ?? this.#clock.monotonic()
    if (present !== undefined) this.#due[present].delete(key)
    this.#due[priority].set(key, since)
    if (priority === 'timely') this.#timely?.enter()
    this.#serve()
  }

  /** Hands due keys to idle workers. One that takes a key has seen everything that its deadline was for. */
  #serve(): void {
    for (
      let priority = this.#servable();
      priority !== undefined && this.#idle.length > 0;
      priority = this.#servable()
    ) {
      for (const [key, since] of this.#due[priority]) {
        this.#due[priority].delete(key)
        this.#deadlines.delete(key)
        const now = this.#clock.monotonic()
        this.#processing.set(key, { since: now, priority })
        this.#observer?.waited((now - since) / 1000)
        this.#idle.shift()?.(key)
        break
      }
    }
    this.#observer?.depth(this.depth)
  }

  /** Which keys are handed out now. */
  #servable(): Priority | undefined {
    if (this.#due.timely.size > 0) return 'timely'
    if (this.#timely?.hasPrecedence === true) return undefined
    return priorities.find((priority) => this.#due[priority].size > 0)
  }

  /** Keeps one timer, for the earliest deadline. */
  #arm(): void {
    const due = this.#deadlines.next
    if (due === this.#timer?.due) return
    this.#timer?.cancel()
    this.#timer = undefined
    if (due === undefined) return
    const cancel = this.#clock.after(Math.max(0, due - this.#clock.monotonic()), () => this.#onTimer())
    this.#timer = { due, cancel }
  }

  #onTimer(): void {
    this.#timer = undefined
    const now = this.#clock.monotonic()
    for (let due = this.#deadlines.take(now); due !== undefined; due = this.#deadlines.take(now))
      this.add(due.key, due.priority)
    this.#arm()
  }
}
