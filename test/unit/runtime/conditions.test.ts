import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Condition } from '../../../src/lib/object.ts'
import { deepFreeze } from '../../../src/lib/readonly.ts'
import {
  conditionOf,
  isTrue,
  setCondition,
  settleConditions,
  withoutCause,
  withReconciling,
  withStalled,
} from '../../../src/runtime/conditions.ts'

const early = new Date('2026-11-30T12:00:00.700Z')
const late = new Date('2026-11-30T13:00:00.200Z')

const input = fc.record({
  type: fc.constantFrom('Ready', 'Succeeded', 'Applied', 'Valid', 'Reconciling', 'Stalled'),
  status: fc.constantFrom('True' as const, 'False' as const, 'Unknown' as const),
  reason: fc.constantFrom('Done', 'Missing', 'Broken'),
  message: fc.string({ maxLength: 20 }),
})

test('the time of a condition moves when its status changes and at no other time', () => {
  fc.assert(
    fc.property(fc.array(input, { maxLength: 12 }), input, (history, next) => {
      const before = history.reduce<Condition[]>((list, each) => setCondition(list, each, 1, early), [])
      const after = setCondition(deepFreeze(before), next, 2, late)
      const changed = conditionOf(before, next.type)?.status !== next.status
      const time = changed ? '2026-11-30T13:00:00Z' : '2026-11-30T12:00:00Z'
      expect(conditionOf(after, next.type)).toEqual({ ...next, lastTransitionTime: time, observedGeneration: 2 })
      for (const other of before) if (other.type !== next.type) expect(after).toContainEqual(other)
    }),
  )
})

test('a list has each type once, Ready or Succeeded first, in one order whatever the order of setting', () => {
  fc.assert(
    fc.property(fc.array(input, { minLength: 1, maxLength: 12 }), (inputs) => {
      const list = inputs.reduce<Condition[]>((all, each) => setCondition(all, each, 1, early), [])
      const types = list.map(({ type }) => type)
      expect(new Set(types).size).toBe(types.length)
      const summaries = types.filter((type) => type === 'Ready' || type === 'Succeeded')
      expect(types.slice(0, summaries.length)).toEqual(summaries)
      expect(types.slice(summaries.length)).toEqual([...types.slice(summaries.length)].sort())
    }),
  )
})

test('setting what is there already changes nothing', () => {
  fc.assert(
    fc.property(fc.array(input, { maxLength: 12 }), (inputs) => {
      const list = inputs.reduce<Condition[]>((all, each) => setCondition(all, each, 1, early), [])
      for (const { type, status, reason, message } of list) {
        expect(setCondition(list, { type, status, reason, message }, 1, late)).toEqual(list)
      }
    }),
  )
})

test('a message is cut to 1 KiB of UTF-8, between characters', () => {
  fc.assert(
    fc.property(fc.constantFrom('a', 'ß', '€', '🙂'), fc.integer({ min: 200, max: 2000 }), (character, count) => {
      const message = character.repeat(count)
      const [set] = setCondition([], { type: 'Ready', status: 'True', reason: 'Done', message }, 1, early)
      const kept = set?.message ?? ''
      expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(1024)
      if (Buffer.byteLength(message) <= 1024) expect(kept).toBe(message)
      else expect([...new Set(kept)].sort()).toEqual([...new Set([...character, '…'])].sort())
    }),
  )
})

test('Stalled and Reconciling exclude each other and go together', () => {
  const cause = { reason: 'Missing', message: 'an environment is missing' }
  const stalled = withStalled(withReconciling([], cause, 1, early), cause, 1, early)
  expect(isTrue(stalled, 'Stalled')).toBe(true)
  expect(conditionOf(stalled, 'Reconciling')).toBeUndefined()
  const reconciling = withReconciling(stalled, cause, 1, early)
  expect(conditionOf(reconciling, 'Stalled')).toBeUndefined()
  expect(withoutCause(reconciling)).toEqual([])
})

test('settling keeps the times of conditions that a reconciler built from nothing', () => {
  const ready = { type: 'Ready', status: 'True', reason: 'Done', message: '' } as const
  const before = setCondition([], ready, 1, early)
  const after = setCondition([], { ...ready, reason: 'StillDone' }, 2, late)
  expect(settleConditions(before, after, 'Ready')).toEqual([
    { ...ready, reason: 'StillDone', lastTransitionTime: '2026-11-30T12:00:00Z', observedGeneration: 2 },
  ])
})

test('settling drops a Stalled of an earlier pass, and keeps one that gives the reason of Ready', () => {
  const cause = { reason: 'Broken', message: 'mend it' }
  const broken = withStalled(setCondition([], { type: 'Ready', status: 'False', ...cause }, 1, early), cause, 1, early)
  expect(settleConditions(broken, broken, 'Ready')).toEqual(broken)
  const waiting = setCondition(broken, { type: 'Ready', status: 'False', reason: 'Missing', message: '' }, 1, late)
  expect(settleConditions(broken, waiting, 'Ready').map(({ type }) => type)).toEqual(['Ready'])
  const mended = setCondition(broken, { type: 'Ready', status: 'True', reason: 'Done', message: '' }, 1, late)
  expect(settleConditions(broken, mended, 'Ready').map(({ type }) => type)).toEqual(['Ready'])
})
