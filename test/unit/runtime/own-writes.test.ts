import { expect, test } from 'vitest'
import { longestOwnWriteWait, OwnWrites } from '../../../src/runtime/own-writes.ts'
import { FakeClock } from '../../kit/fake-clock.ts'

test('a key without writes passes at once', () => {
  expect(new OwnWrites(new FakeClock()).pass('a')).toEqual({ go: true, waitedSeconds: 0, gaveUp: false })
})

test('a key is held back until all its writes are in the caches; other keys are not', () => {
  const clock = new FakeClock()
  const writes = new OwnWrites(clock)
  let version = 0
  writes.remember('a', () => version >= 1)
  writes.remember('a', () => version >= 2)
  expect(writes.pass('a').go).toBe(false)
  expect(writes.pass('b').go).toBe(true)
  version = 1
  expect(writes.pass('a').go).toBe(false)
  version = 2
  clock.tick(300)
  expect(writes.pass('a')).toEqual({ go: true, waitedSeconds: 0.3, gaveUp: false })
  expect(writes.pass('a')).toEqual({ go: true, waitedSeconds: 0, gaveUp: false })
})

test('a write that never comes back holds its key for five seconds', () => {
  const clock = new FakeClock()
  const writes = new OwnWrites(clock)
  writes.remember('a', () => false)
  clock.tick(longestOwnWriteWait - 1)
  expect(writes.pass('a').go).toBe(false)
  clock.tick(1)
  expect(writes.pass('a')).toEqual({ go: true, waitedSeconds: 5, gaveUp: true })
})

test('a key whose object is gone holds nothing', () => {
  const writes = new OwnWrites(new FakeClock())
  writes.remember('a', () => false)
  writes.forget('a')
  expect(writes.pass('a').go).toBe(true)
})
