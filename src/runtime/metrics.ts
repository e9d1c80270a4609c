import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { QueueObserver } from './queue.ts'
import type { Count } from './result.ts'

/** How a pass ended, as controller-runtime counts it. */
export type ReconcileOutcome = 'success' | 'requeue_after' | 'requeue' | 'error'

const passSeconds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const queueSeconds = [0.0001, 0.001, 0.01, 0.1, 1, 10, 60, 300]
const delaySeconds = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3600]

/** Reasons that are there from the start: an increase from nothing is none to whoever computes rates. */
const skipReasons = ['DeadlineExceeded', 'LimitExceeded', 'MissedPolicyNone', 'NotReady', 'Paused', 'Superseded']

/** One line of a gauge. */
export interface Sample {
  readonly labels?: Readonly<Record<string, string>>
  readonly value: number
}

const watchSilence =
  'Time since the last event, bookmark or list of a kind. Nothing is decided by one that is silent for 180 s.'

/**
 * The metrics of a process, under the names that controller-runtime and client-go use, so that existing dashboards and
 * alerts work. Each process has a registry of its own; nothing is global.
 */
export class Metrics {
  readonly registry = new Registry()
  readonly #reconciles: Counter<'controller' | 'result'>
  readonly #errors: Counter<'controller'>
  readonly #terminalErrors: Counter<'controller'>
  readonly #reconcileSeconds: Histogram<'controller'>
  readonly #activeWorkers: Gauge<'controller'>
  readonly #depth: Gauge<'name'>
  readonly #adds: Counter<'name'>
  readonly #retries: Counter<'name'>
  readonly #queueSeconds: Histogram<'name'>
  readonly #workSeconds: Histogram<'name'>
  readonly #requests: Counter<'code' | 'method'>
  readonly #watchRestarts: Counter<'kind' | 'reason'>
  readonly #ownWriteSeconds: Histogram<'controller'>
  readonly #leads: Gauge<'name'>
  readonly #served: Gauge<'namespace'>
  readonly #pauses: Counter
  readonly #resumes: Counter
  readonly #skips: Counter<'reason'>
  readonly #startDelay: Histogram<never>

  constructor() {
    collectDefaultMetrics({ register: this.registry })
    this.#reconciles = this.#counter('controller_runtime_reconcile_total', 'Passes by their end.', [
      'controller',
      'result',
    ])
    this.#errors = this.#counter('controller_runtime_reconcile_errors_total', 'Passes that failed and are retried.', [
      'controller',
    ])
    this.#terminalErrors = this.#counter(
      'controller_runtime_terminal_reconcile_errors_total',
      'Passes that failed in a way that only a change of the spec helps.',
      ['controller'],
    )
    this.#reconcileSeconds = this.#histogram(
      'controller_runtime_reconcile_time_seconds',
      'Length of a pass.',
      ['controller'],
      passSeconds,
    )
    this.#activeWorkers = this.#gauge('controller_runtime_active_workers', 'Passes at this moment.', ['controller'])
    this.#depth = this.#gauge('workqueue_depth', 'Keys that are due and wait for a worker.', ['name'])
    this.#adds = this.#counter('workqueue_adds_total', 'Keys added.', ['name'])
    this.#retries = this.#counter('workqueue_retries_total', 'Keys added again after a failure.', ['name'])
    this.#queueSeconds = this.#histogram(
      'workqueue_queue_duration_seconds',
      'Time from due to taken.',
      ['name'],
      queueSeconds,
    )
    this.#workSeconds = this.#histogram(
      'workqueue_work_duration_seconds',
      'Time from taken to done.',
      ['name'],
      queueSeconds,
    )
    this.#requests = this.#counter('rest_client_requests_total', 'Requests to the API server.', ['code', 'method'])
    this.#watchRestarts = this.#counter('graphwright_watch_restarts_total', 'Lists and watches started again.', [
      'kind',
      'reason',
    ])
    this.#ownWriteSeconds = this.#histogram(
      'graphwright_own_write_wait_seconds',
      'Time from a write to the pass that was held back until the caches showed it.',
      ['controller'],
      passSeconds,
    )
    this.#leads = this.#gauge('leader_election_master_status', '1 in the process that leads, by its Lease.', ['name'])
    this.#served = this.#gauge(
      'graphwright_namespace_served',
      '1 for a namespace of watchNamespaces that is served, 0 for one in which rights are missing.',
      ['namespace'],
    )
    this.#pauses = this.#counter('graphwright_automation_paused_total', 'Automations that paused themselves.', [
      'automation_hash',
      'error_code',
      'failure_kind',
      'consecutive_failures',
      'surface',
    ])
    this.#resumes = this.#counter(
      'graphwright_automation_resumed_total',
      'Pauses of that kind that ended, by what ended them.',
      ['automation_hash', 'via'],
    )
    this.#skips = this.#counter(
      'graphwright_occurrences_skipped_total',
      'Occurrences of schedules that did not start, by the reason.',
      ['reason'],
    )
    for (const reason of skipReasons) this.#skips.inc({ reason }, 0)
    this.#startDelay = this.#histogram(
      'graphwright_occurrence_start_delay_seconds',
      'Time from when an occurrence of a schedule should have started to its firing.',
      [],
      delaySeconds,
    )
  }

  /** What a reconciler found worth counting. */
  count(count: Count): void {
    switch (count.metric) {
      case 'automationPaused':
        this.#pauses.inc({ ...count.labels })
        break
      case 'automationResumed':
        this.#resumes.inc({ ...count.labels })
        break
      case 'occurrencesSkipped':
        this.#skips.inc({ ...count.labels }, count.times)
        break
      case 'occurrenceStarted':
        this.#startDelay.observe(count.delaySeconds)
        break
    }
  }

  /** A gauge that is read whenever somebody looks. It takes the place of an earlier one of the same name. */
  watch(name: string, help: string, labelNames: string[], read: () => readonly Sample[]): void {
    this.registry.removeSingleMetric(name)
    new Gauge({
      name,
      help,
      labelNames,
      registers: [this.registry],
      collect() {
        // Without labels, a reset would show a zero that nobody has measured.
        if (labelNames.length === 0) this.remove()
        else this.reset()
        for (const { labels = {}, value } of read()) this.set({ ...labels }, value)
      },
    })
  }

  /** Shows, by kind, for how many milliseconds a watch has been silent. */
  watchSilences(read: () => ReadonlyMap<string, number>): void {
    this.watch('graphwright_watch_silence_seconds', watchSilence, ['kind'], () =>
      [...read()]
        .filter(([, millis]) => Number.isFinite(millis))
        .map(([kind, millis]) => ({ labels: { kind }, value: millis / 1000 })),
    )
  }

  /** A controller that will be counted, with nothing counted yet. */
  controller(controller: string): void {
    this.#errors.inc({ controller }, 0)
  }

  reconciled(controller: string, result: ReconcileOutcome, seconds: number): void {
    this.#reconciles.inc({ controller, result })
    this.#reconcileSeconds.observe({ controller }, seconds)
    if (result === 'error') this.#errors.inc({ controller })
  }

  stalled(controller: string): void {
    this.#terminalErrors.inc({ controller })
  }

  workers(controller: string, change: 1 | -1): void {
    this.#activeWorkers.inc({ controller }, change)
  }

  /** A request to the API server was answered; code `<error>` where it was not. */
  requested(method: string, code: number | '<error>'): void {
    this.#requests.inc({ method, code: String(code) })
  }

  watchRestarted(kind: string, reason: string): void {
    this.#watchRestarts.inc({ kind, reason })
  }

  ownWriteWaited(controller: string, seconds: number): void {
    this.#ownWriteSeconds.observe({ controller }, seconds)
  }

  /** @param lease name of the Lease */
  leads(lease: string, isLeading: boolean): void {
    this.#leads.set({ name: lease }, isLeading ? 1 : 0)
  }

  served(namespace: string, isServed: boolean): void {
    this.#served.set({ namespace }, isServed ? 1 : 0)
  }

  /** Counts what happens in the queue of this controller. */
  queue(name: string): QueueObserver {
    return {
      added: () => this.#adds.inc({ name }),
      retried: () => this.#retries.inc({ name }),
      depth: (keys) => this.#depth.set({ name }, keys),
      waited: (seconds) => this.#queueSeconds.observe({ name }, seconds),
      worked: (seconds) => this.#workSeconds.observe({ name }, seconds),
    }
  }

  #counter<L extends string>(name: string, help: string, labelNames: L[]): Counter<L> {
    return new Counter({ name, help, labelNames, registers: [this.registry] })
  }

  #gauge<L extends string>(name: string, help: string, labelNames: L[]): Gauge<L> {
    return new Gauge({ name, help, labelNames, registers: [this.registry] })
  }

  #histogram<L extends string>(name: string, help: string, labelNames: L[], buckets: number[]): Histogram<L> {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.registry] })
  }
}
