import { expect, test } from 'vitest'
import { readTail } from '../../../src/kube/tail.ts'

async function* chunks(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

test.each([1, 3, 7, 1_000])('the last bytes, from chunks of %i', async (size) => {
  const text = 'abcdefghij'.repeat(20)
  expect(await readTail(chunks(text, size), 15)).toBe('fghijabcdefghij')
  expect(await readTail(chunks(text, size), 500)).toBe(text)
  expect(await readTail(chunks(text, size), Number.POSITIVE_INFINITY)).toBe(text)
})

test('begins with a whole character', async () => {
  expect(await readTail(chunks('ä🦊é', 2), 5)).toBe('é')
  expect(await readTail(chunks('ä🦊é', 2), 6)).toBe('🦊é')
})
