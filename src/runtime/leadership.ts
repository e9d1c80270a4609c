import type { EventRecorder } from '../kube/events.ts'
import type { ObjectRef } from '../lib/object.ts'
import type { Elector } from './elector.ts'
import type { Logger } from './log.ts'
import type { Metrics } from './metrics.ts'

export interface LeadershipOptions {
  readonly elector: Elector
  readonly log: Logger
  readonly metrics: Metrics
  readonly events: Pick<EventRecorder, 'record'>
  /** Last checks of an elected process, before anything of it runs. If they fail, the lead is given up. */
  readonly beforeLead?: (() => Promise<void>) | undefined
}

/** The lead as a manager has it, and everybody is told of. */
export class Leadership {
  readonly #options: LeadershipOptions

  constructor(options: LeadershipOptions) {
    this.#options = options
    options.metrics.leads(options.elector.ref.name, false)
  }

  /** The Lease. */
  get ref(): ObjectRef {
    return this.#options.elector.ref
  }

  /** Whether anything may be written at this moment. */
  get isHeld(): boolean {
    return this.#options.elector.isLeading
  }

  /** Why this process could not take over; undefined while it can. */
  get problem(): string | undefined {
    return this.#options.elector.problem
  }

  /**
   * Competes for the lead. Returns true when this process has it and may begin, false when `stopped` resolved before or
   * it was lost again.
   * @param onLost called when the lead is lost, then or later
   * @throws what `beforeLead` throws
   */
  async acquire(stopped: Promise<void>, onLost: (error: unknown) => void): Promise<boolean> {
    const { elector, log, metrics, beforeLead } = this.#options
    let isStopped = false
    const { identity, ref } = elector
    log.info({ identity, lease: ref }, 'caches are warm, waiting for the lead')
    elector.run().catch((error: unknown) => {
      metrics.leads(ref.name, false)
      onLost(error)
    })
    const stop = stopped.then(() => {
      isStopped = true
    })
    await Promise.race([elector.elected, stop])
    if (isStopped) return false
    try {
      await beforeLead?.()
    } catch (error) {
      await elector.stop()
      throw error
    }
    if (isStopped || !elector.isLeading) return false
    this.#tell(true)
    return true
  }

  /** Gives the lead up if nothing acts on it any more; else it passes on when its time is over. */
  async leave(hasEnded: boolean): Promise<void> {
    const { elector } = this.#options
    const { isLeading } = elector
    if (hasEnded) await elector.stop()
    else elector.abandon()
    if (isLeading) this.#tell(false)
  }

  #tell(isLeading: boolean): void {
    const { elector, log, metrics, events } = this.#options
    const { identity, ref } = elector
    metrics.leads(ref.name, isLeading)
    log.info({ identity, lease: ref }, isLeading ? 'leads' : 'leads no longer')
    const reason = isLeading ? 'BecameLeader' : 'StoppedLeading'
    const note = `${identity} ${isLeading ? 'became leader' : 'stopped leading'}`
    events.record(ref, { type: 'Normal', reason, note, action: 'Elect' })
  }
}
