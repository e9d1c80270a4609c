import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Predicate } from '../../../src/api/graph-document.ts'
import { evaluateAll } from '../../../src/program/predicates.ts'

const subject = { text: 'disk full', flag: false, zero: 0, empty: '', nothing: null, list: ['a'], deep: { n: 1.5 } }

const equals = (pointer: string, value: unknown): Predicate => ({ kind: 'equals', pointer, value })
const contains = (pointer: string, value: unknown): Predicate => ({ kind: 'contains', pointer, value })

function outcome(...predicates: Predicate[]): boolean | string {
  const verdict = evaluateAll(predicates, subject)
  return verdict.kind === 'decided' ? verdict.holds : verdict.reason
}

describe('predicates', () => {
  it.each<[string, Predicate, boolean | string]>([
    ['text', equals('/text', 'disk full'), true],
    ['[A-370] white space counts', equals('/text', 'disk full '), false],
    ['[A-370] empty text', equals('/empty', ''), true],
    ['[A-368] false', equals('/flag', false), true],
    ['[A-367] false is not "false"', equals('/flag', 'false'), false],
    ['[A-368] zero', equals('/zero', 0), true],
    ['[A-367] 0 is not "0"', equals('/zero', '0'), false],
    ['0 is not false', equals('/zero', false), false],
    ['a number inside', equals('/deep/n', 1.5), true],
    ['[A-372] null equals nothing', equals('/nothing', null), false],
    ['a list equals nothing', equals('/list', 'a'), false],
    ['[A-373] a missing field', equals('/missing', 'x'), 'field_missing'],
    ['[A-371] part of a text', contains('/text', 'sk fu'), true],
    ['another text', contains('/text', 'Disk'), false],
    ['[A-371] a list is no text', contains('/list', 'a'), 'field_not_text'],
    ['[A-373] part of a missing field', contains('/missing', 'x'), 'field_missing'],
    ['all', { kind: 'all', predicates: [equals('/zero', 0), equals('/flag', true)] }, false],
    ['any', { kind: 'any', predicates: [equals('/zero', 1), equals('/flag', false)] }, true],
    ['not', { kind: 'not', predicate: equals('/zero', 1) }, true],
    ['not of a missing field', { kind: 'not', predicate: equals('/missing', 1) }, 'field_missing'],
    [
      'any, one decided and one missing',
      { kind: 'any', predicates: [equals('/zero', 0), equals('/missing', 0)] },
      'field_missing',
    ],
  ])('%s', (_, predicate, expected) => {
    expect(outcome(predicate)).toBe(expected)
  })

  it('several predicates: all must hold', () => {
    expect(outcome(equals('/zero', 0), contains('/text', 'disk'))).toBe(true)
    expect(outcome(equals('/zero', 0), contains('/text', 'tape'))).toBe(false)
  })

  it('decides the same in every order', () => {
    const leaf = fc.constantFrom(
      equals('/zero', 0),
      equals('/zero', 1),
      equals('/missing', 1),
      contains('/text', 'disk'),
      contains('/text', 'tape'),
    )
    const group = fc.record({
      kind: fc.constantFrom('all' as const, 'any' as const),
      predicates: fc.array(leaf, { minLength: 1, maxLength: 4 }),
    })
    const predicates = fc.array(fc.oneof(leaf, group), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(predicates, (list) => {
        const reversed = list
          .map((predicate) =>
            'predicates' in predicate ? { ...predicate, predicates: predicate.predicates?.toReversed() } : predicate,
          )
          .reverse()
        expect(outcome(...(reversed as Predicate[]))).toBe(outcome(...(list as Predicate[])))
      }),
    )
  })
})
