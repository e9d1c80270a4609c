import { expect, test } from 'vitest'
import { Echoes } from '../../../src/runtime/echoes.ts'

test('what is seen of a key without a write is news', () => {
  expect(new Echoes().isNews('a', '1')).toBe(true)
})

test('the version that a write made is no news, any other is', () => {
  const echoes = new Echoes()
  echoes.begin('a')
  expect(echoes.end('a', '5')).toBe(false)
  expect(echoes.isNews('a', '5')).toBe(false)
  expect(echoes.isNews('a', '6')).toBe(true)
  expect(echoes.isNews('b', '5')).toBe(true)
})

test('an echo that is faster than the answer is no news either', () => {
  const echoes = new Echoes()
  echoes.begin('a')
  expect(echoes.isNews('a', '5')).toBe(false)
  expect(echoes.end('a', '5')).toBe(false)
})

test.each([
  ['somebody wrote after us', '5'],
  ['somebody wrote before us, and our write was refused', undefined],
])('what is seen meanwhile wakes the key afterwards when %s', (_, made) => {
  const echoes = new Echoes()
  echoes.begin('a')
  expect(echoes.isNews('a', '6')).toBe(false)
  expect(echoes.end('a', made)).toBe(true)
})

test('a refused write leaves nothing behind', () => {
  const echoes = new Echoes()
  echoes.begin('a')
  expect(echoes.end('a', undefined)).toBe(false)
  expect(echoes.isNews('a', '6')).toBe(true)
  echoes.forget('a')
  expect(echoes.isNews('a', undefined)).toBe(true)
})
