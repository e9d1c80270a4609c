import type { ObjectKey } from '../lib/object.ts'

interface Echo {
  /** True while the write is under way: the watch may be faster than its answer. */
  writing: boolean
  /** The version that the write made. */
  version: string | undefined
  /** The newest version that was seen while the write was under way. */
  seen: string | undefined
}

/**
 * Tells the echo of a failure's status write from news. A failed pass writes why it failed; to see that come back says
 * nothing new, and must not cut the pause short that the failure asked for: two errors that take turns would loop.
 */
export class Echoes {
  readonly #echoes = new Map<ObjectKey, Echo>()

  /** The write is about to be sent. */
  begin(key: ObjectKey): void {
    this.#echoes.set(key, { writing: true, version: undefined, seen: undefined })
  }

  /**
   * The write is answered: it made this version, or none.
   * @returns true when another version was seen meanwhile, and the key is to be woken after all
   */
  end(key: ObjectKey, version: string | undefined): boolean {
    const echo = this.#echoes.get(key)
    if (echo === undefined) return false
    echo.writing = false
    echo.version = version
    return echo.seen !== undefined && echo.seen !== version
  }

  /** False for the echo, and for what cannot be told from it yet. */
  isNews(key: ObjectKey, version: string | undefined): boolean {
    const echo = this.#echoes.get(key)
    if (echo === undefined) return true
    if (!echo.writing) return version !== echo.version
    echo.seen = version
    return false
  }

  forget(key: ObjectKey): void {
    this.#echoes.delete(key)
  }
}
