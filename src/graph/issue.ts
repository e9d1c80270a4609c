import type { z } from 'zod'

/** What the schema of the document finds. */
export type Issue = z.core.$ZodIssue

/** True where a text or a list is longer than the schema allows. */
export function isTooLarge(issue: Issue): boolean {
  return issue.code === 'too_big' && issue.origin !== 'number' && issue.origin !== 'int'
}

/** The issue in words: where it is, what is wrong and what to write instead. */
export function describeIssue(issue: Issue, document: unknown): string {
  const path = pathText(issue.path)
  return path === '' ? `the document ${problem(issue, document)}` : `${path} ${problem(issue, document)}`
}

function problem(issue: Issue, document: unknown): string {
  switch (issue.code) {
    case 'unrecognized_keys':
      return `has no field ${issue.keys.join(', ')}: remove it or correct its name`
    case 'invalid_type':
      return valueAt(document, issue.path) === undefined
        ? 'is missing'
        : `must be ${article(issue.expected)}, not ${typeName(valueAt(document, issue.path))}`
    case 'invalid_value': {
      const value = valueAt(document, issue.path)
      const instead = `${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')}`
      return value === undefined ? `is missing: ${instead}` : `is ${shown(value)}, must be ${instead}`
    }
    case 'too_big':
      return `is too large: at most ${issue.maximum}`
    case 'too_small':
      return `is too small: at least ${issue.minimum}`
    case 'invalid_format':
      return 'must be a name of lower-case letters, digits, dashes and dots that begins and ends with a letter or digit'
    default:
      return 'is not valid'
  }
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 64) : typeName(value)
}

function article(type: string): string {
  return type === 'object' || type === 'array' || type === 'int'
    ? `an ${type === 'int' ? 'integer' : type}`
    : `a ${type}`
}

function typeName(value: unknown): string {
  if (value === null) return 'null'
  return article(Array.isArray(value) ? 'array' : typeof value)
}

function valueAt(document: unknown, path: readonly PropertyKey[]): unknown {
  let value: unknown = document
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = Object.hasOwn(value, key) ? (value as Record<PropertyKey, unknown>)[key] : undefined
  }
  return value
}

/** `nodes[2].trigger.cron` */
function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`
    return text === '' ? String(key) : `${text}.${String(key)}`
  }, '')
}
