import type { Predicate } from '../api/graph-document.ts'
import type { ReadonlyJson } from '../lib/json.ts'
import { resolvePointer } from '../lib/pointer.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import type { Failure } from './values.ts'

export type Verdict = { readonly kind: 'decided'; readonly holds: boolean } | Failure

/**
 * Whether all predicates hold for the subject. Every field that is named must be there, also where another predicate
 * has settled the matter: a missing field fails the decision in every order, and is never converted.
 */
export function evaluateAll(predicates: readonly DeepReadonly<Predicate>[], subject: ReadonlyJson): Verdict {
  const verdicts = predicates.map((predicate) => evaluate(predicate, subject))
  const failure = verdicts.find((verdict) => verdict.kind === 'failed')
  return failure ?? decided(verdicts.every(holds))
}

function evaluate(predicate: DeepReadonly<Predicate>, subject: ReadonlyJson): Verdict {
  switch (predicate.kind) {
    case 'all':
      return evaluateAll(predicate.predicates ?? [], subject)
    case 'any':
      return evaluateAny(predicate.predicates ?? [], subject)
    case 'not':
      return predicate.predicate === undefined ? decided(false) : negate(evaluate(predicate.predicate, subject))
    case 'equals':
    case 'contains':
      return compare(predicate.kind, predicate.pointer ?? '', predicate.value, subject)
  }
}

function evaluateAny(predicates: readonly DeepReadonly<Predicate>[], subject: ReadonlyJson): Verdict {
  const verdicts = predicates.map((predicate) => evaluate(predicate, subject))
  const failure = verdicts.find((verdict) => verdict.kind === 'failed')
  return failure ?? decided(verdicts.some(holds))
}

function compare(kind: 'equals' | 'contains', pointer: string, wanted: unknown, subject: ReadonlyJson): Verdict {
  const value = resolvePointer(subject, pointer)
  if (value === undefined) {
    return {
      kind: 'failed',
      reason: 'field_missing',
      message: `the condition reads ${named(pointer)}, which is missing`,
    }
  }
  // Text, boolean and finite number only, without conversion: false is not "false", and null equals nothing.
  if (kind === 'equals') return decided(value === wanted && value !== null)
  if (typeof value !== 'string') {
    const message = `the condition looks for a text in ${named(pointer)}, which is not a text`
    return { kind: 'failed', reason: 'field_not_text', message }
  }
  return decided(typeof wanted === 'string' && value.includes(wanted))
}

function named(pointer: string): string {
  return pointer === '' ? 'the whole value' : pointer
}

function decided(holds: boolean): Verdict {
  return { kind: 'decided', holds }
}

function negate(verdict: Verdict): Verdict {
  return verdict.kind === 'decided' ? decided(!verdict.holds) : verdict
}

function holds(verdict: Verdict): boolean {
  return verdict.kind === 'decided' && verdict.holds
}
