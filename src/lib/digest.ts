import { hash } from 'node:crypto'
import { canonicalJson } from './json.ts'

/** `sha256:` and 64 hexadecimal digits. */
export type Digest = string

/** Digest of exact bytes (a text counts as its UTF-8 bytes). */
export function digestBytes(bytes: string | Uint8Array): Digest {
  return `sha256:${hash('sha256', bytes, 'hex')}`
}

/** Digest of a JSON value, independent of key order. */
export function digestJson(value: unknown): Digest {
  return digestBytes(canonicalJson(value))
}

const digestPattern = /^sha256:[0-9a-f]{64}$/

/** True for a well-formed {@link Digest}. */
export function isDigest(value: string): value is Digest {
  return digestPattern.test(value)
}
