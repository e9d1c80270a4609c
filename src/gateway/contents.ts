import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { type Digest, digestBytes, isDigest } from '../lib/digest.ts'
import { ApiError } from './errors.ts'

/** Bytes kept under their digest. What takes the place of files later (a ledger) keeps to this. */
export interface Contents {
  /**
   * Keeps `bytes`; resolves once they are durable. Putting what is already there changes nothing.
   * @throws {ApiError} `validation.conflict` where `digest` is another's, `validation.payload_too_large`,
   * `content.store_full`
   */
  put(digest: Digest, bytes: Uint8Array): Promise<void>
  /** @throws {ApiError} `content.missing`, or `content.corrupt` where what is kept is not what was put */
  get(digest: Digest): Promise<Uint8Array>
}

/** Largest content: a prompt or a binding made of an output of 1 MiB, which JSON may blow up sixfold. */
export const contentLimitBytes = 8 * 1024 * 1024

/** A temporary file this old belongs to no put that is still under way. */
const staleMillis = 60 * 60 * 1000

/**
 * Contents as files, one per digest. A file appears whole or not at all: written under another name, flushed, renamed,
 * and the folder flushed, so that neither a kill nor a power cut leaves half of one under its digest.
 */
export class ContentFiles implements Contents {
  readonly #files: string
  readonly #temporary: string

  private constructor(folder: string) {
    this.#files = join(folder, 'sha256')
    this.#temporary = join(folder, 'tmp')
  }

  /** Opens the store in `folder`, which is made if absent, and removes what interrupted puts left behind. */
  static async open(folder: string, now: Date = new Date()): Promise<ContentFiles> {
    const store = new ContentFiles(folder)
    await mkdir(store.#files, { recursive: true })
    await mkdir(store.#temporary, { recursive: true })
    await flushFolder(folder)
    await store.#sweep(now)
    return store
  }

  async put(digest: Digest, bytes: Uint8Array): Promise<void> {
    checkPut(digest, bytes)
    if (await this.#holds(digest)) return
    const temporary = join(this.#temporary, randomUUID())
    try {
      await writeDurably(temporary, bytes)
      await rename(temporary, this.#path(digest))
      await flushFolder(this.#files)
    } catch (error) {
      await rm(temporary, { force: true })
      throw asStoreError(error)
    }
  }

  async get(digest: Digest): Promise<Uint8Array> {
    const bytes = await this.#read(digest)
    if (bytes === undefined) {
      throw new ApiError('content.missing', 'content_missing', `the content store does not have ${digest}`)
    }
    if (digestBytes(bytes) === digest) return bytes
    const message = `the bytes kept as ${digest} do not have that digest: the volume of the content store is damaged`
    throw new ApiError('content.corrupt', 'digest_mismatch', message)
  }

  /** What the volume holds, and how much may still be written to it. */
  async space(): Promise<{ readonly freeBytes: number; readonly sizeBytes: number }> {
    const { bavail, blocks, bsize } = await statfs(this.#files)
    return { freeBytes: bavail * bsize, sizeBytes: blocks * bsize }
  }

  /** True where the content is there and sound; one that is damaged is to be written again. */
  async #holds(digest: Digest): Promise<boolean> {
    const bytes = await this.#read(digest)
    return bytes !== undefined && digestBytes(bytes) === digest
  }

  async #read(digest: Digest): Promise<Uint8Array | undefined> {
    try {
      return await readFile(this.#path(digest))
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined
      throw error
    }
  }

  #path(digest: Digest): string {
    if (!isDigest(digest)) throw new ApiError('validation.invalid', 'digest_malformed', `no digest: ${digest}`)
    return join(this.#files, digest.slice('sha256:'.length))
  }

  async #sweep(now: Date): Promise<void> {
    for (const name of await readdir(this.#temporary)) {
      const path = join(this.#temporary, name)
      const { mtimeMs } = await stat(path)
      if (now.getTime() - mtimeMs > staleMillis) await rm(path, { force: true })
    }
  }
}

function checkPut(digest: Digest, bytes: Uint8Array): void {
  if (bytes.byteLength > contentLimitBytes) {
    const message = `a content may have ${contentLimitBytes} bytes, this one has ${bytes.byteLength}`
    throw new ApiError('validation.payload_too_large', 'content_too_large', message)
  }
  const actual = digestBytes(bytes)
  if (actual === digest) return
  throw new ApiError('validation.conflict', 'digest_mismatch', `the body has the digest ${actual}, not ${digest}`)
}

async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
  try {
    await file.writeFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

function asStoreError(error: unknown): unknown {
  const code = codeOf(error)
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return error
  const message = 'the volume of the content store is full; make it larger, or remove what is no longer needed'
  return new ApiError('content.store_full', 'store_full', message, { retryAfterSeconds: 10, cause: error })
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
