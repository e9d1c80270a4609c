import { createHash } from 'node:crypto'
import type { Clock } from '../runtime/clock.ts'
import { ApiError, type ErrorCode } from './errors.ts'

/** Who presents a token: a ServiceAccount in the one pod that the token is bound to. */
export interface Caller {
  readonly namespace: string
  readonly serviceAccount: string
  readonly podName: string
  readonly podUID: string
}

/** Says who a token belongs to. */
export interface Authenticator {
  /** @throws {ApiError} `auth.invalid_token` */
  authenticate(token: string, signal?: AbortSignal): Promise<Caller>
}

const keptMillis = 10_000
const mostKept = 4096

/**
 * Whose tokens were found good. An answer is kept for ten seconds under the hash of the token; that is safe because
 * whether the pod still acts for its run is never decided by the token.
 */
export class KnownCallers {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #good = new Map<string, { readonly caller: Caller; readonly until: number }>()

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** The caller that is known by this token, or whom `find` says it is. */
  async callerOf(token: string, find: () => Promise<Caller>): Promise<Caller> {
    const key = createHash('sha256').update(token).digest('base64')
    const known = this.#good.get(key)
    if (known !== undefined && known.until > this.#clock.monotonic()) return known.caller
    this.#good.delete(key)
    const caller = await find()
    this.#keep(key, caller)
    return caller
  }

  #keep(key: string, caller: Caller): void {
    for (const oldest of this.#good.keys()) {
      if (this.#good.size < mostKept) break
      this.#good.delete(oldest)
    }
    this.#good.set(key, { caller, until: this.#clock.monotonic() + keptMillis })
  }
}

/** The error of a token that proves nothing. */
export function refused(code: ErrorCode, message: string): ApiError {
  return new ApiError('auth.invalid_token', code, message)
}
