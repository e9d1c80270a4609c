import type { Content } from '../api/fields.ts'

/**
 * Texts too large for a resource, kept by the gateway under their digest. Putting the same text twice is one text, so
 * a crash between a put and the status write that names it loses nothing and repeats nothing.
 */
export interface ContentStore {
  /** Stores `text`; returns once it is durable. */
  put(text: string, signal?: AbortSignal): Promise<Content>
  /** The text under `digest`. Throws when the store does not have it or its bytes do not match the digest. */
  get(digest: string, signal?: AbortSignal): Promise<string>
}
