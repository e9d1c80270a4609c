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
  let text = ''
  const open: Level[] = []
  // Not by recursion: what the API server takes is nested deeper than a stack reaches.
  for (let next: { readonly value: unknown } | undefined = { value }; next !== undefined; ) {
    if (typeof next.value === 'object' && next.value !== null) {
      const level = levelOf(next.value)
      open.push(level)
      text += level.isList ? '[' : '{'
    } else text += JSON.stringify(next.value) ?? 'null'
    next = undefined
    for (let level = open.at(-1); level !== undefined && next === undefined; level = open.at(-1)) {
      const member = level.members[level.done]
      if (member === undefined) {
        open.pop()
        text += level.isList ? ']' : '}'
      } else {
        text += `${level.done === 0 ? '' : ','}${level.isList ? '' : `${JSON.stringify(member[0])}:`}`
        level.done += 1
        next = { value: member[1] }
      }
    }
  }
  return text
}

/** A list or an object whose text is under way. */
interface Level {
  readonly isList: boolean
  readonly members: readonly (readonly [string, unknown])[]
  done: number
}

function levelOf(value: object): Level {
  if (Array.isArray(value)) return { isList: true, members: value.map((child) => ['', child]), done: 0 }
  const members = Object.entries(value).filter(([, child]) => child !== undefined)
  return { isList: false, members: members.sort(([a], [b]) => compareText(a, b)), done: 0 }
}

/** True when both values have the same canonical text: key order and `undefined` do not count. */
export function sameJson(a: unknown, b: unknown): boolean {
  return canonicalJson(a) === canonicalJson(b)
}
