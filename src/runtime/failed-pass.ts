import { type ObjectKey, type ObjectRef, type Resource, refOf } from '../lib/object.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { jittered } from './back-off.ts'
import type { Clock } from './clock.ts'
import type { ControllerSpec, StatusBase } from './controller.ts'
import type { Echoes } from './echoes.ts'
import type { Executor } from './executor.ts'
import type { Logger } from './log.ts'
import type { Metrics, ReconcileOutcome } from './metrics.ts'
import { classify, type Outcome } from './outcome.ts'
import type { WorkQueue } from './queue.ts'
import type { EventInput } from './result.ts'
import { type Failure, showsFailure, statusOfFailure } from './status.ts'

export interface FailedPassesOptions {
  readonly spec: ControllerSpec<Resource<unknown, StatusBase>, StatusBase>
  readonly queue: WorkQueue
  readonly echoes: Echoes
  readonly clock: Clock
  readonly metrics: Metrics
  readonly record: (event: EventInput & { readonly regarding: ObjectRef }) => void
}

/** One pass over one object. */
export interface Pass {
  readonly key: ObjectKey
  readonly object: DeepReadonly<Resource<unknown, StatusBase>>
  readonly executor: Executor
  readonly log: Logger
}

const conflictMillis = 1000

/** What becomes of the passes of a controller that failed: what is told of them, and when the key comes back. */
export class FailedPasses {
  readonly #options: FailedPassesOptions

  constructor(options: FailedPassesOptions) {
    this.#options = options
  }

  /** Puts the error where people see it, and its key back into the queue. */
  async handle(pass: Pass, error: unknown): Promise<ReconcileOutcome> {
    const outcome = classify(error)
    if ('failure' in outcome && this.#options.spec.showsFailures !== false) await this.#show(pass, outcome.failure)
    return this.#comeBack(pass, outcome, error)
  }

  /** Puts the failure into the status, and once into an event where only people can help. */
  async #show(pass: Pass, failure: Failure): Promise<void> {
    const { spec, clock, record } = this.#options
    const { object } = pass
    const status = statusOfFailure(object, failure, spec, clock.now())
    if (status === undefined || !(await this.#write(pass, status))) return
    if (failure.kind !== 'stalled' || showsFailure(object, failure, spec)) return
    const { reason, message: note } = failure
    record({ regarding: refOf(object), type: 'Warning', reason, note, action: 'Reconcile' })
  }

  /** Returns true when it is written. */
  async #write({ key, executor, log }: Pass, status: StatusBase): Promise<boolean> {
    const { echoes, queue } = this.#options
    let written = false
    echoes.begin(key)
    try {
      written = await executor.writeStatus(status)
    } catch (error) {
      log.info({ error }, 'failure could not be written to the status')
    }
    if (echoes.end(key, written ? executor.version : undefined)) queue.add(key)
    return written
  }

  #comeBack({ key, log }: Pass, outcome: Outcome, error: unknown): ReconcileOutcome {
    const { spec, queue, metrics } = this.#options
    switch (outcome.kind) {
      case 'conflict':
        log.debug({ error }, 'lost a race, trying again')
        queue.addAfter(key, conflictMillis)
        return 'requeue'
      case 'gone':
        queue.forget(key)
        return 'success'
      case 'waiting':
        log.debug({ reason: outcome.failure.reason }, 'waiting for a dependency')
        return this.#lookAgain(key, outcome.afterMillis)
      case 'stalled':
        log.info({ reason: outcome.failure.reason, detail: outcome.failure.message }, 'only people can help')
        metrics.stalled(spec.name)
        return this.#lookAgain(key, outcome.afterMillis)
      case 'overloaded':
        log.warn({ error, afterMillis: outcome.afterMillis }, 'API server asks to come back later')
        queue.addAfter(key, outcome.afterMillis)
        return 'requeue_after'
      case 'error': {
        const afterMillis = Math.round(queue.retry(key))
        log.error({ error, afterMillis, failures: queue.failures(key) }, 'reconciling failed')
        return 'error'
      }
    }
  }

  #lookAgain(key: ObjectKey, afterMillis: number | undefined): ReconcileOutcome {
    const { queue } = this.#options
    queue.forget(key)
    if (afterMillis === undefined) return 'success'
    queue.addAfter(key, jittered(afterMillis, { jitter: 0.1 }))
    return 'requeue_after'
  }
}
