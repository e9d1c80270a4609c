import { compareText } from './text.ts'

/** A value that JSON can carry. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export type JsonObject = { [key: string]: Json }

/** Read-only counterpart of {@link Json}. */
export type ReadonlyJson =
  | null
  | boolean
  | number
  | string
  | readonly ReadonlyJson[]
  | { readonly [key: string]: ReadonlyJson }

/** True for a JSON object: neither null nor a list. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * The one text of a JSON value: object keys sorted by UTF-16 code unit, no white space, absent instead of `undefined`
 * (the ordering rule of RFC 8785). Two values with the same canonical text are the same value.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sortKeys(value))
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (!isJsonObject(value)) return value
  const sorted = Object.entries(value)
    .filter(([, child]) => child !== undefined)
    .sort(([a], [b]) => compareText(a, b))
    .map(([key, child]) => [key, sortKeys(child)])
  return Object.fromEntries(sorted)
}

/** True when both values have the same canonical text: key order and `undefined` do not count. */
export function sameJson(a: unknown, b: unknown): boolean {
  return canonicalJson(a) === canonicalJson(b)
}
