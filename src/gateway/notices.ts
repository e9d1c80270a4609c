import { Agent, request } from 'undici'
import { type PauseNotice, pauseNotice } from '../api/notices.ts'
import { ApiError } from './errors.ts'

/** Where notices go. */
export interface NoticeTarget {
  /** Sends a notice; the same one is sent once. @throws {ApiError} where it was not taken */
  send(notice: PauseNotice, signal?: AbortSignal): Promise<void>
}

const timeoutMillis = 10_000
/** Notices that were taken and may be handed in again, by a manager that died before it wrote that down. */
const remembered = 1000

/** Posts notices to an address outside. Its URL may be a secret, and is in no message. */
export class NoticePost implements NoticeTarget {
  readonly #url: string
  readonly #agent = new Agent({ connect: { timeout: timeoutMillis } })
  readonly #taken = new Set<string>()

  /** @param url `http` or `https` */
  constructor(url: string) {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
      throw new Error('the address for notices is no http or https URL')
    }
    this.#url = url
  }

  async send(notice: PauseNotice, signal?: AbortSignal): Promise<void> {
    if (this.#taken.has(notice.id)) return
    const status = await this.#post(notice, signal)
    if (status < 200 || status >= 300) throw notTaken(`answered with status ${status}`)
    if (this.#taken.size >= remembered) this.#taken.clear()
    this.#taken.add(notice.id)
  }

  close(): Promise<void> {
    return this.#agent.close()
  }

  /** Redirects are not followed: they are no success. */
  async #post(notice: PauseNotice, signal: AbortSignal | undefined): Promise<number> {
    try {
      const answer = await request(this.#url, {
        method: 'POST',
        dispatcher: this.#agent,
        headers: { 'content-type': 'application/json', 'idempotency-key': notice.id },
        body: JSON.stringify(notice),
        headersTimeout: timeoutMillis,
        bodyTimeout: timeoutMillis,
        signal: signal ?? null,
      })
      await answer.body.dump()
      return answer.statusCode
    } catch (cause) {
      throw notTaken('was not reached', cause)
    }
  }
}

function notTaken(what: string, cause?: unknown): ApiError {
  const message = `the receiver of notices ${what}; see that its address is right and that the gateway may reach it`
  return new ApiError('gateway.unavailable', 'notice_not_taken', message, { retryAfterSeconds: 60, cause })
}

/** @throws {ApiError} `validation.invalid` */
export function parseNotice(body: unknown): PauseNotice {
  const parsed = pauseNotice.safeParse(body)
  if (parsed.success) return parsed.data
  throw new ApiError('validation.invalid', 'notice_malformed', 'the body is no notice', { cause: parsed.error })
}
