import { randomBytes } from 'node:crypto'
import { cut } from '../lib/names.ts'
import { type Identified, namespaceOf, type ObjectRef, refOf } from '../lib/object.ts'
import { shortenToBytes } from '../lib/text.ts'
import type { KubeClient } from './client.ts'
import { type Event, eventType } from './core-types.ts'
import { isNotFound } from './error.ts'
import { EventBudget } from './event-budget.ts'
import { microTime } from './micro-time.ts'

export interface EventRecord {
  readonly type: 'Normal' | 'Warning'
  /** PascalCase, past tense, stable. */
  readonly reason: string
  /** For people; cut to 1 KiB. */
  readonly note: string
  /** What was done, a verb. Default: the reason. */
  readonly action?: string | undefined
}

/** The object an event is about: itself, or a reference to it. */
export type Regarding = ObjectRef | Identified

export interface EventRecorderOptions {
  /** `reportingController`: `graphwright.dev/manager`. */
  readonly controller: string
  /** `reportingInstance`: the pod's name. */
  readonly instance: string
  /** Told of events that could not be written. */
  readonly onError: (message: string, error: unknown) => void
  readonly now?: () => Date
  /** Events that wait to be written; more are dropped. Default 1,000. */
  readonly queueLimit?: number
}

/** The same thing again within this time is counted in the first event's series. */
const seriesMillis = 6 * 60_000
const seriesLimit = 4_096
const writeTimeoutMillis = 10_000
/** The server refuses a longer note. */
const noteBytes = 1024

interface Series {
  readonly event: Event
  count: number
  lastMillis: number
  /** True while a write that will carry the newest count is in the queue. */
  waiting: boolean
}

/**
 * Writes events.k8s.io/v1 events, one at a time in the background. An event is a courtesy: one that fails is reported
 * to `onError` and dropped. Each object has a budget (25 at once, one more every five minutes), so that a loop cannot
 * flood the API server.
 */
export class EventRecorder {
  readonly #client: KubeClient
  readonly #options: EventRecorderOptions
  readonly #now: () => Date
  readonly #budget = new EventBudget()
  readonly #series = new Map<string, Series>()
  readonly #queue: (() => Promise<void>)[] = []
  #writing: Promise<void> | undefined
  /** Events that found no place, since the queue was last empty. */
  #dropped = 0

  constructor(client: KubeClient, options: EventRecorderOptions) {
    this.#client = client
    this.#options = options
    this.#now = options.now ?? (() => new Date())
  }

  /** Queues an event and returns at once; never throws. */
  record(regarding: Regarding, record: EventRecord): void {
    const ref = 'metadata' in regarding ? refOf(regarding) : regarding
    const now = this.#now()
    const key = JSON.stringify([ref.kind, ref.namespace, ref.name, ref.uid, record.type, record.reason, record.note])
    const series = this.#current(key, now)
    if (series !== undefined) {
      series.count++
      series.lastMillis = now.getTime()
      if (series.waiting) return
    }
    if (!this.#budget.take(JSON.stringify([ref.kind, ref.namespace, ref.name]), now.getTime())) return
    if (series === undefined) this.#begin(key, ref, record, now)
    else series.waiting = this.#enqueue(() => this.#writeSeries(series))
  }

  /** Waits until everything recorded so far has been tried. */
  async flush(): Promise<void> {
    await this.#writing
  }

  #current(key: string, now: Date): Series | undefined {
    const series = this.#series.get(key)
    if (series === undefined || now.getTime() - series.lastMillis > seriesMillis) return undefined
    return series
  }

  #begin(key: string, ref: ObjectRef, record: EventRecord, now: Date): void {
    const event = this.#build(ref, record, now)
    const queued = this.#enqueue(async () => {
      await this.#client.create(event, { signal: AbortSignal.timeout(writeTimeoutMillis) })
    })
    if (!queued) return
    if (this.#series.size >= seriesLimit) this.#series.clear()
    this.#series.set(key, { event, count: 1, lastMillis: now.getTime(), waiting: false })
  }

  async #writeSeries(series: Series): Promise<void> {
    series.waiting = false
    const { event, count, lastMillis } = series
    const { apiVersion, kind } = eventType
    const { name } = event.metadata
    const heard = { count, lastObservedTime: microTime(new Date(lastMillis)) }
    const signal = AbortSignal.timeout(writeTimeoutMillis)
    try {
      const ref = { apiVersion, kind, name, ...namespaceOf(event.metadata) }
      await this.#client.mergePatch(ref, { series: heard }, { signal })
    } catch (error) {
      if (!isNotFound(error)) throw error
      // The server forgets events after an hour.
      await this.#client.create({ ...event, series: heard }, { signal })
    }
  }

  #build(ref: ObjectRef, record: EventRecord, now: Date): Event {
    // The event of a cluster-scoped object lives in `default`, as kubectl expects.
    const namespace = ref.namespace ?? 'default'
    return {
      apiVersion: eventType.apiVersion,
      kind: eventType.kind,
      metadata: { name: `${cut(ref.name, 200)}.${randomBytes(8).toString('hex')}`, namespace },
      eventTime: microTime(now),
      type: record.type,
      reason: record.reason.slice(0, 128),
      action: (record.action ?? record.reason).slice(0, 128),
      note: shortenToBytes(record.note, noteBytes),
      regarding: { ...ref, namespace },
      reportingController: this.#options.controller,
      reportingInstance: this.#options.instance.slice(0, 128),
    }
  }

  #enqueue(write: () => Promise<void>): boolean {
    if (this.#queue.length >= (this.#options.queueLimit ?? 1_000)) {
      this.#dropped += 1
      return false
    }
    this.#queue.push(write)
    this.#writing ??= this.#drain()
    return true
  }

  async #drain(): Promise<void> {
    for (let write = this.#queue.shift(); write !== undefined; write = this.#queue.shift()) {
      try {
        await write()
      } catch (error) {
        this.#options.onError('an event was not written', error)
      }
    }
    this.#writing = undefined
    const dropped = this.#dropped
    this.#dropped = 0
    if (dropped > 0)
      this.#options.onError(`too many events were waiting to be written: ${dropped} were dropped`, undefined)
  }
}
