import {
  afterFailure,
  afterLook,
  afterStandBy,
  afterWrite,
  beforeWrite,
  claimOf,
  type ElectionTiming,
  electionTiming,
  leads,
  newElection,
  nextElectionStep,
  releaseOf,
} from '../kube/election.ts'
import { isAlreadyExists, isConflict, isNotFound } from '../kube/error.ts'
import type { LeaseRecord } from '../kube/lease.ts'
import type { ObjectRef } from '../lib/object.ts'
import type { Clock } from './clock.ts'
import type { Logger } from './log.ts'

/** This process may not act any more: it could not renew its Lease in time, or somebody else holds it. */
export class LeadershipLost extends Error {
  override readonly name = 'LeadershipLost'
}

export interface ElectorOptions {
  readonly lease: LeaseRecord
  /** Different for every process that ever runs: who finds it in the Lease takes itself for the leader. */
  readonly identity: string
  readonly clock: Clock
  readonly log: Logger
  readonly timing?: ElectionTiming
}

/**
 * One process in the election of a leader by a Lease (`src/kube/election.ts` decides, this carries out). The lead is no
 * fence: a request that was sent before it was lost may arrive after. What is written must be safe when two write.
 */
export class Elector {
  readonly identity: string
  readonly #lease: LeaseRecord
  readonly #clock: Clock
  readonly #log: Logger
  readonly #timing: ElectionTiming
  readonly #stopping = new AbortController()
  readonly #elected = Promise.withResolvers<void>()
  #election = newElection
  #uid: string | undefined
  #running: Promise<void> | undefined
  /** Since when the Lease could not be read or written, and why. */
  #failing: { readonly since: number; readonly message: string } | undefined

  constructor(options: ElectorOptions) {
    this.identity = options.identity
    this.#lease = options.lease
    this.#clock = options.clock
    this.#log = options.log
    this.#timing = options.timing ?? electionTiming
  }

  /** Resolves when this process leads. */
  get elected(): Promise<void> {
    return this.#elected.promise
  }

  /** Whether this process may act at this moment, by its own clock: asked before each write. */
  get isLeading(): boolean {
    return !this.#stopping.signal.aborted && leads(this.#election, this.#clock.monotonic(), this.#timing)
  }

  /** The Lease, for its events. */
  get ref(): ObjectRef {
    return { ...this.#lease.ref, ...(this.#uid !== undefined && { uid: this.#uid }) }
  }

  /** Why this process could not become the leader if it had to; undefined while it can. For readiness. */
  get problem(): string | undefined {
    if (this.#failing === undefined) return undefined
    const { since, message } = this.#failing
    const isLasting = this.#clock.monotonic() - since >= this.#timing.leaseMillis
    return isLasting ? `leader election: ${message}` : undefined
  }

  /**
   * Competes for the lead and then keeps it, until {@link stop}.
   * @throws {LeadershipLost}
   */
  run(): Promise<void> {
    this.#running ??= this.#run()
    return this.#running
  }

  /** Leaves the election. Gives the lead up so that another process has it at once; all work must have ended. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    try {
      await this.#running
    } catch {
      // Lost: there is nothing to give up, and who runs it knows.
      return
    }
    if (this.#election.renewedAt !== undefined) await this.#release()
  }

  /** Leaves the election without giving the lead up: it passes on when its time is over. */
  abandon(): void {
    this.#stopping.abort()
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) await this.#step()
  }

  async #step(): Promise<void> {
    const now = this.#clock.monotonic()
    const step = nextElectionStep(this.#election, this.identity, now, this.#timing)
    switch (step.kind) {
      case 'standBy':
        this.#election = afterStandBy(this.#election, now + step.millis)
        return this.#sleep(step.millis)
      case 'wait':
        return this.#sleep(step.millis)
      case 'look':
        return this.#tell(() => this.#look())
      case 'write':
        return this.#tell(() => this.#write(step.from))
      case 'lost':
        this.#election = newElection
        throw this.#lost(step.holder)
    }
  }

  async #look(): Promise<void> {
    const lease = await this.#attempt((signal) => this.#lease.read(signal))
    this.#uid = lease?.metadata.uid
    this.#election = afterLook(this.#election, lease, this.#clock.monotonic())
    this.#noteLead()
  }

  async #write(from: Parameters<LeaseRecord['write']>[0]): Promise<void> {
    const sentAt = this.#clock.monotonic()
    const claim = claimOf(from, this.identity, this.#clock.now(), this.#timing)
    this.#election = beforeWrite(this.#election, claim, sentAt)
    const lease = await this.#attempt((signal) => this.#lease.write(from, claim, signal))
    this.#uid = lease.metadata.uid
    this.#election = afterWrite(this.#election, lease, { sentAt, now: this.#clock.monotonic() }, this.#timing)
    this.#noteLead()
  }

  /** A confirmation that came too late is none. */
  #noteLead(): void {
    if (this.isLeading) this.#elected.resolve()
  }

  async #release(): Promise<void> {
    const isReleased = () => this.#election.renewedAt === undefined
    for (let tries = 0; tries < 2 && !isReleased(); tries++) {
      await this.#tell(async () => {
        await this.#look()
        const { lease } = this.#election
        const isOurs = typeof lease === 'object' && lease.spec?.holderIdentity === this.identity
        if (isOurs) {
          const spec = releaseOf(lease, this.#clock.now())
          await this.#attempt((signal) => this.#lease.write(lease, spec, signal))
        }
        this.#election = newElection
      })
    }
  }

  /** Does something with the Lease, and remembers whether that is possible. */
  async #tell(act: () => Promise<void>): Promise<void> {
    const sentAt = this.#clock.monotonic()
    try {
      await act()
      if (this.#failing !== undefined) this.#log.info({ lease: this.ref }, 'Lease can be used again')
      this.#failing = undefined
    } catch (error) {
      const lostRace = isConflict(error) || isAlreadyExists(error) || isNotFound(error)
      const now = this.#clock.monotonic()
      this.#election = afterFailure(this.#election, { sentAt, now, isConflict: lostRace }, this.#timing)
      if (!lostRace) this.#fail(error, sentAt)
    }
  }

  #fail(error: unknown, sentAt: number): void {
    const message = error instanceof Error ? error.message : String(error)
    const say = this.#failing === undefined ? 'warn' : 'debug'
    this.#log[say]({ error, lease: this.ref }, 'Lease could not be used, trying again')
    this.#failing = { since: this.#failing?.since ?? sentAt, message }
  }

  /** A request with a time limit, which for a leader is never later than the end of its lead. */
  async #attempt<R>(send: (signal: AbortSignal) => Promise<R>): Promise<R> {
    const { attemptMillis, renewMillis } = this.#timing
    const { renewedAt } = this.#election
    const left = renewedAt === undefined ? attemptMillis : renewedAt + renewMillis - this.#clock.monotonic()
    const millis = Math.min(attemptMillis, Math.max(left, 1))
    const late = new AbortController()
    const { promise: isLate, reject } = Promise.withResolvers<never>()
    const cancel = this.#clock.after(millis, () => {
      const error = new Error(`no answer within ${Math.round(millis)} ms`)
      reject(error)
      late.abort(error)
    })
    try {
      return await Promise.race([send(late.signal), isLate])
    } finally {
      cancel()
    }
  }

  /** Until then, or until {@link stop}. */
  async #sleep(millis: number): Promise<void> {
    await this.#clock.sleep(millis, this.#stopping.signal).catch(() => {})
  }

  #lost(holder: string | undefined): LeadershipLost {
    const { namespace, name } = this.#lease.ref
    const lease = `Lease ${namespace}/${name}`
    if (holder === undefined) {
      const seconds = this.#timing.renewMillis / 1000
      const why = this.#failing === undefined ? 'the process stood still' : this.#failing.message
      return new LeadershipLost(`${lease} could not be renewed within ${seconds} s: ${why}`)
    }
    const now = holder === '' ? 'was emptied by somebody' : `is held by ${holder} now`
    return new LeadershipLost(`${lease} ${now}`)
  }
}
