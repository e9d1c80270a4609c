import type { z } from 'zod'
import { type EdgeKind, edgeKinds, graphDocument, type NodeKind, nodeKinds } from '../api/graph-document.ts'
import { beginningOf, nearest } from '../lib/text.ts'
import { runnableEdgeKinds, runnableKinds } from './draft.ts'

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
      return `has no field ${issue.keys.join(', ')}: ${fieldAdvice(issue)}`
    case 'invalid_type':
      return valueAt(document, issue.path) === undefined
        ? 'is missing'
        : `must be ${article(issue.expected)}, not ${typeName(valueAt(document, issue.path))}`
    case 'invalid_value': {
      const value = valueAt(document, issue.path)
      const near = typeof value === 'string' ? nearest(value, issue.values.map(String)) : undefined
      if (near !== undefined) return `is ${shown(value)}: did you mean ${near}?`
      const instead = `${issue.values.length > 1 ? 'one of ' : ''}${runnable(issue.values).join(', ')}`
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

/** The field that was probably meant, where one of the same object is spelled much like it. */
function fieldAdvice({ keys, path }: z.core.$ZodIssueUnrecognizedKeys): string {
  const [list, , ...deeper] = path
  const known = deeper.length > 0 ? [] : fieldsOf(list)
  const [key = ''] = keys
  const near = keys.length === 1 ? nearest(key, known) : undefined
  return near === undefined ? 'remove it or correct its name' : `did you mean ${near}?`
}

function fieldsOf(list: PropertyKey | undefined): string[] {
  const { shape } = graphDocument
  if (list === undefined) return Object.keys(shape)
  if (list === 'nodes') return Object.keys(shape.nodes.element.shape)
  return list === 'edges' ? Object.keys(shape.edges.unwrap().element.shape) : []
}

/** Of all kinds of nodes or of edges those that this release runs; other values as they are. */
function runnable(values: readonly unknown[]): readonly unknown[] {
  if (values.length === nodeKinds.length && values.every((value) => nodeKinds.includes(value as NodeKind))) {
    return [...runnableKinds]
  }
  const isEdges = values.length === edgeKinds.length && values.every((value) => edgeKinds.includes(value as EdgeKind))
  return isEdges ? runnableEdgeKinds : values
}

function shown(value: unknown): string {
  return typeof value === 'string' ? beginningOf(value, 64) : typeName(value)
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
