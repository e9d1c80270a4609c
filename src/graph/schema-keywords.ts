import { isJsonObject } from '../lib/json.ts'
import { linearPattern, patternLimit, patternSize } from '../lib/linear-pattern.ts'
import { shorten } from '../lib/text.ts'

/**
 * The JSON Schema keywords that an outputSchema may use (draft 2020-12), and what their values may be. A keyword that
 * is not here would be ignored by one reader and obeyed by another, so it is refused.
 */
export interface Keyword {
  /** What is wrong with the value, in words that follow the keyword; undefined where nothing is. */
  readonly check: (value: unknown) => string | undefined
  /** How schemas stand in the value. */
  readonly holds?: 'schema' | 'list' | 'map'
  /** The schemas inside apply to the very same value, not to a part of it. */
  readonly inPlace?: boolean
}

const types = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']

const schema: Keyword = { check: (value) => (isSchema(value) ? undefined : 'must be a schema'), holds: 'schema' }
const schemaList: Keyword = { check: nonEmptyList, holds: 'list' }
const schemaMap: Keyword = { check: (value) => (isJsonObject(value) ? undefined : 'must be an object'), holds: 'map' }
const text: Keyword = { check: (value) => (typeof value === 'string' ? undefined : 'must be a text') }
const flag: Keyword = { check: (value) => (typeof value === 'boolean' ? undefined : 'must be true or false') }
const bound: Keyword = { check: (value) => (typeof value === 'number' ? undefined : 'must be a number') }
const count: Keyword = {
  check: (value) => (Number.isSafeInteger(value) && Number(value) >= 0 ? undefined : 'must be an integer from 0 on'),
}
const anything: Keyword = { check: () => undefined }

export const keywords: ReadonlyMap<string, Keyword> = new Map<string, Keyword>([
  ['type', { check: checkType }],
  ['enum', { check: nonEmptyList }],
  ['const', anything],
  ['properties', schemaMap],
  ['patternProperties', { ...schemaMap, check: checkPatternProperties }],
  ['additionalProperties', schema],
  ['propertyNames', schema],
  ['required', { check: checkNames }],
  ['minProperties', count],
  ['maxProperties', count],
  ['items', schema],
  ['prefixItems', schemaList],
  ['contains', schema],
  ['minItems', count],
  ['maxItems', count],
  ['uniqueItems', flag],
  ['minLength', count],
  ['maxLength', count],
  ['pattern', { check: checkPattern }],
  ['minimum', bound],
  ['maximum', bound],
  ['exclusiveMinimum', bound],
  ['exclusiveMaximum', bound],
  ['multipleOf', { check: (value) => (Number(value) > 0 ? bound.check(value) : 'must be a number over 0') }],
  ['allOf', { ...schemaList, inPlace: true }],
  ['anyOf', { ...schemaList, inPlace: true }],
  ['oneOf', { ...schemaList, inPlace: true }],
  ['not', { ...schema, inPlace: true }],
  ['if', { ...schema, inPlace: true }],
  ['then', { ...schema, inPlace: true }],
  ['else', { ...schema, inPlace: true }],
  ['$ref', text],
  ['$defs', schemaMap],
  ['definitions', schemaMap],
  ['$schema', { check: checkDialect }],
  ['$comment', text],
  ['title', text],
  ['description', text],
  ['default', anything],
  ['examples', { check: (value) => (Array.isArray(value) ? undefined : 'must be a list') }],
  ['deprecated', flag],
  ['readOnly', flag],
  ['writeOnly', flag],
  ['format', text],
])

/** True for what can stand where a schema is expected. */
export function isSchema(value: unknown): boolean {
  return typeof value === 'boolean' || isJsonObject(value)
}

function nonEmptyList(value: unknown): string | undefined {
  return Array.isArray(value) && value.length > 0 ? undefined : 'must be a list with at least one element'
}

function checkType(value: unknown): string | undefined {
  const named: unknown[] = Array.isArray(value) ? value : [value]
  const known = named.length > 0 && named.every((type) => types.includes(String(type)) && typeof type === 'string')
  return known && new Set(named).size === named.length ? undefined : `must be one or several of ${types.join(', ')}`
}

function checkNames(value: unknown): string | undefined {
  const valid = Array.isArray(value) && value.every((name) => typeof name === 'string')
  return valid && new Set(value).size === value.length ? undefined : 'must be a list of different property names'
}

function checkPattern(value: unknown): string | undefined {
  return typeof value === 'string' ? patternProblem(value) : 'must be a text'
}

function patternProblem(pattern: string): string | undefined {
  if (patternSize(pattern) > patternLimit) {
    return `is too large with its repetitions written out, at most ${patternLimit} characters: bound lengths by maxLength`
  }
  return linearPattern(pattern) === undefined ? 'is not in RE2 syntax (no look-around, no back-references)' : undefined
}

function checkPatternProperties(value: unknown): string | undefined {
  if (!isJsonObject(value)) return 'must be an object'
  for (const pattern of Object.keys(value)) {
    const problem = patternProblem(pattern)
    if (problem !== undefined) return `has the pattern ${JSON.stringify(shorten(pattern, 100))}, which ${problem}`
  }
  return undefined
}

/** The patterns in the value of a keyword. */
export function patternsOf(name: string, value: unknown): string[] {
  if (name === 'pattern') return typeof value === 'string' ? [value] : []
  return name === 'patternProperties' && isJsonObject(value) ? Object.keys(value) : []
}

function checkDialect(value: unknown): string | undefined {
  return value === 'https://json-schema.org/draft/2020-12/schema'
    ? undefined
    : 'must be absent or https://json-schema.org/draft/2020-12/schema'
}
