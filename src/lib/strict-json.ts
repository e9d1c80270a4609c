import type { Json } from './json.ts'

/** What strict JSON refuses. Codes are stable; a message never quotes values, which may be confidential. */
export type StrictJsonCode = 'invalid_json' | 'duplicate_key' | 'number_not_exact' | 'too_deep'

/** The text is not JSON, or not JSON that means the same to every reader. */
export class StrictJsonError extends Error {
  override readonly name = 'StrictJsonError'
  readonly code: StrictJsonCode

  constructor(code: StrictJsonCode, message: string) {
    super(message)
    this.code = code
  }
}

/** Lists and objects inside one another, at most. */
export const maxJsonDepth = 100

/**
 * Parses JSON and refuses what readers understand differently (RFC 8259, sections 4 and 6): a key twice in one object,
 * an integer beyond 2^53 that would be written back as another one, a number beyond the range of doubles. Also refuses nesting beyond {@link maxJsonDepth}. Throws {@link StrictJsonError}.
 */
export function parseStrictJson(text: string): Json {
  const value = parse(text)
  check(text)
  return value
}

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch (error) {
    throw new StrictJsonError('invalid_json', `not valid JSON${hint(text, error)}`)
  }
}

/** What helps to find the mistake, without quoting the text. */
function hint(text: string, error: unknown): string {
  if (text.trim() === '') return ': it is empty'
  if (text.trimStart().startsWith('```')) return ': it begins with a Markdown code fence; leave the fence out'
  const message = error instanceof Error ? error.message : ''
  const place = /line (\d+) column (\d+)/.exec(message)
  if (place) return `: see line ${place[1]}, column ${place[2]}`
  return message.startsWith('Unexpected end') ? ': it ends too early' : ''
}

interface Level {
  /** Keys so far; absent in a list. */
  readonly keys?: Set<string>
  /** Where we are: the key or the number of the element. */
  at: string
  index: number
  expectsKey: boolean
}

/** Walks over a text that is known to be valid JSON. */
function check(text: string): void {
  const levels: Level[] = []
  for (const token of tokensOf(text)) {
    const level = levels.at(-1)
    if (token === '{') levels.push({ keys: new Set(), at: '', index: 0, expectsKey: true })
    else if (token === '[') levels.push({ at: '0', index: 0, expectsKey: false })
    else if (token === '}' || token === ']') levels.pop()
    else if (token === ',') next(level)
    else if (token.startsWith('"')) readString(token, levels)
    else checkNumber(token, levels)
    if (levels.length > maxJsonDepth) throw tooDeep()
  }
}

/** The tokens of a valid text but `true`, `false`, `null` and `:`. A string is given with its quotes. */
function* tokensOf(text: string): Generator<string> {
  const starts = /[{}[\],"]|-?\d[\d.eE+-]*/g
  for (let match = starts.exec(text); match !== null; match = starts.exec(text)) {
    if (match[0] === '"') starts.lastIndex = endOfString(text, match.index)
    yield text.slice(match.index, starts.lastIndex)
  }
}

/** Index after the string that begins at `start`. Not a regular expression: its stack would limit the length. */
function endOfString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1)
  while (isEscaped(text, quote)) quote = text.indexOf('"', quote + 1)
  return quote + 1
}

function isEscaped(text: string, index: number): boolean {
  let backslashes = 0
  while (text[index - 1 - backslashes] === '\\') backslashes += 1
  return backslashes % 2 === 1
}

function next(level: Level | undefined): void {
  if (level === undefined) return
  level.index += 1
  level.expectsKey = level.keys !== undefined
  if (level.keys === undefined) level.at = String(level.index)
}

function readString(token: string, levels: readonly Level[]): void {
  const level = levels.at(-1)
  if (level?.keys === undefined || !level.expectsKey) return
  const key = JSON.parse(token) as string
  level.at = key
  level.expectsKey = false
  if (level.keys.has(key)) throw new StrictJsonError('duplicate_key', `key ${place(levels)} stands there twice`)
  level.keys.add(key)
}

function checkNumber(token: string, levels: readonly Level[]): void {
  const value = Number(token)
  if (!Number.isFinite(value)) {
    throw new StrictJsonError('number_not_exact', `number ${place(levels)} is larger than numbers can be`)
  }
  if (!isUnsafeInteger(value) || sameNumber(token, String(value))) return
  throw notExact(levels)
}

/** An integer beyond 2^53, which may stand for its neighbours too. */
function isUnsafeInteger(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value)
}

/** True where two spellings, such as `1e3` and `1000.0`, are one number. */
function sameNumber(one: string, other: string): boolean {
  return normalNumber(one) === normalNumber(other)
}

/** Sign and significant digits of a number, and the power of ten behind them. */
function normalNumber(token: string): string {
  const [, sign = '', whole = '', fraction = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(token) ?? []
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  let end = digits.length
  while (digits[end - 1] === '0') end -= 1
  return `${sign}${digits.slice(0, end)}e${Number(power) - fraction.length + digits.length - end}`
}

function notExact(levels: readonly Pick<Level, 'at'>[]): StrictJsonError {
  return new StrictJsonError('number_not_exact', `integer ${place(levels)} would lose digits; write it as text`)
}

function tooDeep(): StrictJsonError {
  return new StrictJsonError('too_deep', `nested more than ${maxJsonDepth} levels deep`)
}

/**
 * Refuses what {@link parseStrictJson} would have refused of a text that somebody else has parsed, as far as the value
 * still shows it: nesting, and every integer beyond 2^53, because it may have been another one.
 * Throws {@link StrictJsonError}.
 */
export function checkStrictValue(value: unknown): void {
  const open: Visit[] = [{ value, at: '', depth: 0 }]
  for (let visit = open.pop(); visit !== undefined; visit = open.pop()) {
    const { value: seen, depth } = visit
    if (typeof seen === 'number' && isUnsafeInteger(seen)) throw notExact(wayTo(visit))
    if (typeof seen !== 'object' || seen === null) continue
    if (depth >= maxJsonDepth) throw tooDeep()
    for (const [at, child] of Object.entries(seen)) open.push({ value: child, at, depth: depth + 1, parent: visit })
  }
}

/** A value on its turn, and how it was come by. */
interface Visit {
  readonly value: unknown
  readonly at: string
  readonly depth: number
  readonly parent?: Visit
}

function wayTo(visit: Visit): { readonly at: string }[] {
  const way: { readonly at: string }[] = []
  for (let one: Visit | undefined = visit; one?.parent !== undefined; one = one.parent) way.unshift(one)
  return way
}

/** Where we are, as an RFC 6901 pointer. */
function place(levels: readonly Pick<Level, 'at'>[]): string {
  if (levels.length === 0) return 'at the root'
  const pointer = levels.map(({ at }) => `/${at.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
  return `at ${pointer.length > 200 ? `${pointer.slice(0, 200)}…` : pointer}`
}
