import { expect, it } from 'vitest'
import { EventLoopYield } from '../../../src/runtime/event-loop-yield.ts'

function work(millis: number): void {
  const end = performance.now() + millis
  while (performance.now() < end);
}

it('lets a timer have its turn in the middle of work that never waits', async () => {
  const eventLoopYield = new EventLoopYield()
  let isDue = false
  setTimeout(() => {
    isDue = true
  }, 1)
  for (let pieces = 0; !isDue; pieces++) {
    work(5)
    await eventLoopYield.ifDue()
    expect(pieces).toBeLessThan(20)
  }
})

it('costs no turn while the last one is not long ago', async () => {
  const eventLoopYield = new EventLoopYield()
  let turns = 0
  const immediate = setImmediate(() => {
    turns += 1
  })
  await eventLoopYield.ifDue()
  await eventLoopYield.ifDue()
  expect(turns).toBe(0)
  clearImmediate(immediate)
})
