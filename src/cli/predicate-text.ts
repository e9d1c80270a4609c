import { isJsonObject } from '../lib/json.ts'

/** Predicates in words: `/escalate equals true and (/severity equals "high" or /title contains "outage")`. */
export function describePredicates(predicates: readonly unknown[]): string {
  return predicates.map(describe).join(' and ')
}

function describe(predicate: unknown): string {
  if (!isJsonObject(predicate)) return '?'
  const group = Array.isArray(predicate.predicates) ? predicate.predicates.map(describe) : []
  switch (predicate.kind) {
    case 'all':
      return `(${group.join(' and ')})`
    case 'any':
      return `(${group.join(' or ')})`
    case 'not':
      return `not ${describe(predicate.predicate)}`
    default: {
      const subject = predicate.pointer === '' ? 'the value' : String(predicate.pointer)
      return `${subject} ${String(predicate.kind)} ${JSON.stringify(predicate.value)}`
    }
  }
}
