import type { ReadonlyJson } from './json.ts'

/** What a pointer leads to. `undefined` stands for nothing: JSON has no such value. */
export type Pointed = ReadonlyJson | undefined

/**
 * Reference tokens of a JSON Pointer (RFC 6901). `""` has none: it means the whole value. Throws `SyntaxError` for a
 * text that is no pointer.
 */
export function parsePointer(pointer: string): string[] {
  if (pointer === '') return []
  if (!pointer.startsWith('/'))
    throw new SyntaxError(`pointer ${JSON.stringify(pointer)} must be empty or begin with /`)
  if (/~(?![01])/.test(pointer)) {
    throw new SyntaxError(`pointer ${JSON.stringify(pointer)} has a ~ that is followed by neither 0 nor 1`)
  }
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** True for a well-formed pointer. */
export function isPointer(text: string): boolean {
  return text === '' || (text.startsWith('/') && !/~(?![01])/.test(text))
}

/**
 * The value that the pointer leads to; undefined where there is none (a text, for one, has no members). Throws
 * `SyntaxError` for a text that is no pointer.
 */
export function resolvePointer(value: ReadonlyJson, pointer: string): Pointed {
  return resolveTokens(value, parsePointer(pointer))
}

/** As {@link resolvePointer}, by unescaped tokens. An element of a list is named by its number, without leading zeros. */
export function resolveTokens(value: ReadonlyJson, tokens: readonly string[]): Pointed {
  let current: Pointed = value
  for (const token of tokens) {
    if (typeof current !== 'object' || current === null) return undefined
    current = member(current, token)
  }
  return current
}

function member(parent: readonly ReadonlyJson[] | { readonly [key: string]: ReadonlyJson }, token: string): Pointed {
  if (isList(parent)) return /^(0|[1-9]\d*)$/.test(token) ? parent[Number(token)] : undefined
  return Object.hasOwn(parent, token) ? parent[token] : undefined
}

function isList(value: ReadonlyJson): value is readonly ReadonlyJson[] {
  return Array.isArray(value)
}
