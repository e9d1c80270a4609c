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

/** Deeper than anything that is written by hand, and far less deep than a stack reaches. */
const recursionLimit = 100

/**
 * The one text of a JSON value: object keys sorted by UTF-16 code unit, no white space, absent instead of `undefined`
 * (the ordering rule of RFC 8785). Two values with the same canonical text are the same value.
 */
export function canonicalJson(value: unknown): string {
  return textOf(value, 0)
}

/** By recursion, several times as fast as {@link deepText}: a manager that starts does little else for a while. */
function textOf(value: unknown, depth: number): string {
  if (typeof value === 'string') return quoted(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (depth === recursionLimit) return deepText(value)
  return Array.isArray(value) ? listText(value, depth + 1) : objectText(value as Record<string, unknown>, depth + 1)
}

function listText(list: readonly unknown[], depth: number): string {
  let text = ''
  for (let index = 0; index < list.length; index++) text += (index === 0 ? '' : ',') + textOf(list[index], depth)
  return `[${text}]`
}

function objectText(object: Readonly<Record<string, unknown>>, depth: number): string {
  let text = ''
  for (const key of sortedKeys(object)) {
    const child = object[key]
    if (child !== undefined) text += `${text === '' ? '' : ','}${quoted(key)}:${textOf(child, depth)}`
  }
  return `{${text}}`
}

/** What JSON may not show as it is; half of a surrogate pair among it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const needsEscape = /["\\\u0000-\u001f\ud800-\udfff]/
const shortText = 200

/** A short text is looked through faster than it is handed to `JSON.stringify`. */
function quoted(text: string): string {
  return text.length <= shortText && !needsEscape.test(text) ? `"${text}"` : JSON.stringify(text)
}

/** What the API server sends is in order already. */
function sortedKeys(object: object): string[] {
  const keys = Object.keys(object)
  for (let index = 1; index < keys.length; index++) {
    if (compareText(keys[index - 1] ?? '', keys[index] ?? '') > 0) return keys.sort(compareText)
  }
  return keys
}

/** Not by recursion: what the API server takes is nested deeper than a stack reaches. */
function deepText(value: object): string {
  let text = ''
  const open: Level[] = []
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
  return isSurelySame(a, b, 0) || canonicalJson(a) === canonicalJson(b)
}

/** Without making any text, because most of what is compared is the same. False where only the texts can tell. */
function isSurelySame(a: unknown, b: unknown, depth: number): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (depth === recursionLimit || lengthOf(a) !== lengthOf(b)) return false
  const keys = definedKeys(a)
  if (keys.length !== definedKeys(b).length) return false
  return keys.every((key) => Object.hasOwn(b, key) && isSurelySame(memberOf(a, key), memberOf(b, key), depth + 1))
}

/** Of a list, in which also what is undefined counts; undefined for an object. */
function lengthOf(value: object): number | undefined {
  return Array.isArray(value) ? value.length : undefined
}

function definedKeys(object: object): string[] {
  return Object.keys(object).filter((key) => memberOf(object, key) !== undefined)
}

function memberOf(object: object, key: string): unknown {
  return (object as Readonly<Record<string, unknown>>)[key]
}
