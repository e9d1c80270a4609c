import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Deadlines } from '../../../src/runtime/deadlines.ts'

test('takes keys in the order of their deadlines, each once, at its earliest', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), due: fc.nat(50) }), { maxLength: 60 }),
      (settings) => {
        const deadlines = new Deadlines()
        const earliest = new Map<string, number>()
        for (const { key, due } of settings) {
          deadlines.set(key, due)
          earliest.set(key, Math.min(due, earliest.get(key) ?? due))
        }
        const taken: number[] = []
        for (let next = deadlines.next; next !== undefined; next = deadlines.next) {
          expect(deadlines.take(next - 1)).toBeUndefined()
          const key = deadlines.take(next)?.key
          expect(earliest.get(key ?? '')).toBe(next)
          earliest.delete(key ?? '')
          taken.push(next)
        }
        expect(earliest.size).toBe(0)
        expect(taken).toEqual([...taken].sort((a, b) => a - b))
      },
    ),
  )
})

test('a deleted deadline does not come up, and may be set later than before', () => {
  const deadlines = new Deadlines()
  deadlines.set('a', 10)
  deadlines.delete('a')
  expect(deadlines.next).toBeUndefined()
  deadlines.set('a', 20)
  expect(deadlines.take(15)).toBeUndefined()
  expect(deadlines.take(20)?.key).toBe('a')
  expect(deadlines.size).toBe(0)
})
