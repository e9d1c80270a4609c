import { internalNoticesPath, type PauseNotice } from '../api/notices.ts'
import { type BackOffOptions, backOffMillis } from './back-off.ts'
import type { Clock } from './clock.ts'
import { describeAnswer, type GatewayConnection } from './gateway-connection.ts'
import type { Logger } from './log.ts'

/** What became of a notice; `Waiting` until it is known. */
export type NoticeState = 'Waiting' | 'Sent' | 'NotTaken'

/** Tells somebody outside. */
export interface Notices {
  /** Takes a notice, or says what became of it. Returns at once: a receiver that is slow holds up nobody. */
  offer(notice: PauseNotice): NoticeState
}

export interface GatewayNoticesOptions {
  readonly gateway: GatewayConnection
  readonly clock: Clock
  readonly log: Logger
  /** How long a notice is tried, milliseconds. Default one hour. */
  readonly patienceMillis?: number
}

const pauses: BackOffOptions = { firstMillis: 1000, longestMillis: 300_000, jitter: 0.1 }
const defaultPatienceMillis = 3_600_000
/** Answers that are kept: each is asked for within seconds. */
const remembered = 10_000
/** Requests to the gateway at once. */
const parallel = 4

/**
 * Has the gateway send notices, in the background. Nothing is kept: what was not known to be sent when the process ended
 * is offered again, under the same id.
 */
export class GatewayNotices implements Notices {
  readonly #options: GatewayNoticesOptions
  readonly #states = new Map<string, NoticeState>()
  readonly #stop = new AbortController()
  readonly #waiting: PauseNotice[] = []
  #sending = 0

  constructor(options: GatewayNoticesOptions) {
    this.#options = options
  }

  offer(notice: PauseNotice): NoticeState {
    const known = this.#states.get(notice.id)
    if (known !== undefined) return known
    if (this.#states.size >= remembered) this.#forget()
    this.#states.set(notice.id, 'Waiting')
    this.#waiting.push(notice)
    this.#next()
    return 'Waiting'
  }

  /** Gives up what is under way. */
  stop(): void {
    this.#stop.abort(new Error('the process is stopping'))
  }

  #next(): void {
    if (this.#sending >= parallel) return
    const notice = this.#waiting.shift()
    if (notice === undefined) return
    this.#sending++
    void this.#deliver(notice).finally(() => {
      this.#sending--
      this.#next()
    })
  }

  async #deliver(notice: PauseNotice): Promise<void> {
    try {
      this.#states.set(notice.id, await this.#try(notice))
    } catch {
      // Only the end of the process comes here: it is offered again by the next one.
      this.#states.delete(notice.id)
    }
  }

  async #try(notice: PauseNotice): Promise<NoticeState> {
    const { clock, log, patienceMillis = defaultPatienceMillis } = this.#options
    const end = clock.monotonic() + patienceMillis
    for (let failures = 1; ; failures++) {
      const problem = await this.#send(notice)
      if (problem === undefined) return 'Sent'
      const wait = backOffMillis(failures, pauses)
      const isLast = clock.monotonic() + wait >= end
      const { namespace, name } = notice.automation
      log.warn({ namespace, name, problem, givenUp: isLast }, 'the notice of a pause was not sent')
      if (isLast) return 'NotTaken'
      await clock.sleep(wait, this.#stop.signal)
      this.#stop.signal.throwIfAborted()
    }
  }

  /** @returns what went wrong, if anything */
  async #send(notice: PauseNotice): Promise<string | undefined> {
    const { signal } = this.#stop
    try {
      const body = Buffer.from(JSON.stringify(notice))
      const answer = await this.#options.gateway.send('POST', internalNoticesPath, body, signal)
      return answer.status < 300 ? undefined : describeAnswer(answer)
    } catch (error) {
      signal.throwIfAborted()
      return error instanceof Error ? error.message : String(error)
    }
  }

  #forget(): void {
    for (const [id, state] of this.#states) if (state !== 'Waiting') this.#states.delete(id)
  }
}
