import { type Lease, type LeaseSpec, leaseType } from '../../../src/kube/core-types.ts'
import { KubeError } from '../../../src/kube/error.ts'
import type { LeaseRecord } from '../../../src/kube/lease.ts'
import { type Clock, sleepOn } from '../../../src/runtime/clock.ts'
import { Elector, LeadershipLost } from '../../../src/runtime/elector.ts'
import { silentLogger } from '../../../src/runtime/log.ts'
import { FakeClock } from '../../kit/fake-clock.ts'

/** How a machine's clocks differ from true time. */
export interface Skew {
  /** Speed of the monotonic clock. */
  readonly rate: number
  /** What the monotonic clock shows at the start, milliseconds. */
  readonly offset: number
  /** The wall time by true milliseconds since the start. It may stand still, jump or run backwards. */
  readonly wall: (millis: number) => Date
}

export const trueClock: Skew = { rate: 1, offset: 0, wall: (millis) => new Date(Date.UTC(2026, 10, 30) + millis) }

/** What the way between a process and the API server does to requests. */
export type Network = 'good' | 'refused' | 'swallowed'

const place = { namespace: 'graphwright-system', name: 'graphwright-manager' }

/** One Lease behind a linearizable API, and electors on machines that may stand still. A test moves true time. */
export class ElectionWorld {
  readonly time = new FakeClock()
  readonly candidates: Candidate[] = []
  /** `millis identity` of each taking of the lead. */
  readonly reigns: string[] = []
  /** Moments at which two led. */
  readonly overlaps: string[] = []
  lease: Lease | undefined
  writes = 0
  #version = 0

  /** A process that takes part from now on. */
  join(skew: Skew = trueClock): Candidate {
    const candidate = new Candidate(this, `m${this.candidates.length}`, skew)
    this.candidates.push(candidate)
    return candidate
  }

  get leaders(): Candidate[] {
    return this.candidates.filter(({ isLeading }) => isLeading)
  }

  /** Lets time pass, and looks for two leaders at once all the while. */
  async pass(millis: number): Promise<void> {
    for (let left = millis; left > 0; left -= 250) {
      await this.time.advance(Math.min(left, 250))
      this.look()
    }
  }

  look(): void {
    const names = this.leaders.map(({ name }) => name)
    if (names.length > 1) this.overlaps.push(`${this.time.monotonic()} ${names.join(' ')}`)
  }

  commit(from: Lease | undefined, spec: LeaseSpec): Lease {
    if (from === undefined && this.lease !== undefined) throw refusal(409, 'AlreadyExists')
    if (from !== undefined && this.lease === undefined) throw refusal(404, 'NotFound')
    if (from !== undefined && from.metadata.resourceVersion !== this.lease?.metadata.resourceVersion)
      throw refusal(409, 'Conflict')
    // As in etcd: a write that changes nothing makes no version.
    if (this.lease !== undefined && JSON.stringify(this.lease.spec) === JSON.stringify(spec)) return this.lease
    this.writes += 1
    this.#version += 1
    const uid = this.lease?.metadata.uid ?? `uid-${this.#version}`
    const metadata = { ...place, uid, resourceVersion: String(this.#version) }
    this.lease = { apiVersion: leaseType.apiVersion, kind: leaseType.kind, metadata, spec }
    return this.lease
  }
}

function refusal(status: number, reason: string): KubeError {
  return new KubeError({ status, reason, message: reason })
}

/** A process with an elector. */
export class Candidate {
  readonly name: string
  readonly elector: Elector
  network: Network = 'good'
  latencyMillis = 5
  /** What etcd takes for a write. */
  commitMillis = 0
  /** How it ended by itself. */
  end: LeadershipLost | undefined
  readonly #world: ElectionWorld
  readonly #clock: MachineClock
  #isAlive = true

  constructor(world: ElectionWorld, name: string, skew: Skew) {
    this.name = name
    this.#world = world
    this.#clock = new MachineClock(world.time, skew)
    this.elector = new Elector({ lease: this.#record(), identity: name, clock: this.#clock, log: silentLogger })
    this.elector.run().catch((error: unknown) => {
      if (!(error instanceof LeadershipLost)) throw error
      this.end = error
    })
    void this.elector.elected.then(() => {
      world.reigns.push(`${world.time.monotonic()} ${name}`)
      world.look()
    })
  }

  /** A process that is gone does not lead, whatever it thought. One that stands still may. */
  get isLeading(): boolean {
    return this.#isAlive && this.end === undefined && this.elector.isLeading
  }

  /** Takes part, or did not notice yet that it does not any more. */
  get isAlive(): boolean {
    return this.#isAlive && this.end === undefined
  }

  /** SIGKILL. */
  kill(): void {
    this.#isAlive = false
    this.#clock.stop()
  }

  /** SIGTERM: it stops and gives the lead up. */
  async terminate(): Promise<void> {
    await this.elector.stop()
    this.#isAlive = false
  }

  /** SIGSTOP, and SIGCONT after a while. Its clocks go on. */
  stall(millis: number): void {
    this.#clock.stop()
    this.#world.time.after(millis, () => {
      if (this.#isAlive) this.#clock.goOn()
    })
  }

  #record(): LeaseRecord {
    const world = this.#world
    return {
      ref: { apiVersion: leaseType.apiVersion, kind: leaseType.kind, ...place },
      read: (signal) => this.#ask(signal, () => world.lease),
      write: (from, spec, signal) => this.#ask(signal, () => world.commit(from, spec), this.commitMillis),
    }
  }

  /** There and back, each of which may fail. */
  async #ask<R>(signal: AbortSignal, act: () => R, takesMillis = 0): Promise<R> {
    await this.#travel(signal)
    await this.#world.time.sleep(takesMillis)
    let answer: () => R
    try {
      const value = act()
      answer = () => value
    } catch (error) {
      answer = () => {
        throw error
      }
    }
    this.#world.look()
    await this.#travel(signal)
    await this.#clock.running()
    return answer()
  }

  async #travel(signal: AbortSignal): Promise<void> {
    if (this.network === 'refused') throw refusal(0, 'Unreachable')
    if (this.network === 'swallowed') {
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    }
    await this.#world.time.sleep(this.latencyMillis)
  }
}

/** The clock of a machine whose process may stand still: what is due then happens when it goes on. */
class MachineClock implements Clock {
  readonly #time: FakeClock
  readonly #skew: Skew
  #missed: (() => void)[] | undefined

  constructor(time: FakeClock, skew: Skew) {
    this.#time = time
    this.#skew = skew
  }

  now(): Date {
    return this.#skew.wall(this.#time.monotonic())
  }

  monotonic(): number {
    return this.#skew.offset + this.#time.monotonic() * this.#skew.rate
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal)
  }

  after(ms: number, fn: () => void): () => void {
    let isCancelled = false
    const cancel = this.#time.after(ms / this.#skew.rate, () => this.#whenRunning(() => isCancelled || fn()))
    return () => {
      isCancelled = true
      cancel()
    }
  }

  stop(): void {
    this.#missed ??= []
  }

  goOn(): void {
    const missed = this.#missed ?? []
    this.#missed = undefined
    for (const fn of missed) fn()
  }

  running(): Promise<void> {
    return new Promise((resolve) => this.#whenRunning(resolve))
  }

  #whenRunning(fn: () => void): void {
    if (this.#missed === undefined) fn()
    else this.#missed.push(fn)
  }
}
