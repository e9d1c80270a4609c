import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Clock } from '../../../src/runtime/clock.ts'
import { GuardedClock, type Skew } from '../../../src/runtime/guarded-clock.ts'
import { FakeClock } from '../../kit/fake-clock.ts'

/** A machine whose wall clock can be set, and a server whose clock is right. */
class World {
  readonly right = new FakeClock()
  readonly told: [boolean, number][] = []
  readonly guarded: GuardedClock
  /** By how much the machine is ahead. */
  ahead = 0

  constructor() {
    const { right } = this
    const machine: Clock = {
      now: () => new Date(right.now().getTime() + this.ahead),
      monotonic: () => right.monotonic(),
      sleep: (ms, signal) => right.sleep(ms, signal),
      after: (ms, fn) => right.after(ms, fn),
    }
    this.guarded = new GuardedClock(machine, (isCorrecting, { low }: Skew) =>
      this.told.push([isCorrecting, Math.round(low / 1000)]),
    )
  }

  /** The server answers so many times, each after a pause. */
  answers(count: number, { pause = 170, there = 2, back = 3 } = {}): void {
    for (let n = 0; n < count; n++) {
      this.right.tick(pause)
      const sentAt = this.right.monotonic()
      this.right.tick(there)
      const date = Math.floor(this.right.now().getTime() / 1000) * 1000
      this.right.tick(back)
      this.guarded.hear({ date, sentAt, receivedAt: this.right.monotonic() })
    }
  }

  /** How far the guarded clock is behind the right one, milliseconds. */
  get behind(): number {
    return this.right.now().getTime() - this.guarded.now().getTime()
  }
}

describe('a guarded clock', () => {
  it.each([
    ['fast', 5000, -5],
    ['slow', -5000, 5],
    ['an hour fast', 3_600_000, -3600],
  ])('goes by the time of the server where the machine is %s, and is never ahead of it', (_, ahead, seconds) => {
    const world = new World()
    world.ahead = ahead
    expect(world.behind).toBe(0 - ahead)
    world.answers(20)
    expect(world.behind).toBeGreaterThanOrEqual(0)
    expect(world.behind).toBeLessThan(200)
    expect(world.told).toEqual([[true, seconds]])
  })

  it('goes by the machine where it is less than two seconds off, and never says it is more', () => {
    const slow = fc.record({
      pause: fc.integer({ min: 0, max: 3000 }),
      there: fc.integer({ min: 0, max: 20_000 }),
      back: fc.integer({ min: 0, max: 20_000 }),
    })
    fc.assert(
      fc.property(fc.integer({ min: -1999, max: 1999 }), fc.array(slow, { maxLength: 30 }), (ahead, exchanges) => {
        const world = new World()
        world.ahead = ahead
        for (const one of exchanges) world.answers(1, one)
        expect(world.told).toEqual([])
        expect(world.behind).toBe(0 - ahead)
      }),
    )
  })

  it('corrects from two seconds on, and is never ahead of the server while it does', () => {
    const size = fc.integer({ min: 2100, max: 100_000_000 })
    const pauses = fc.array(fc.integer({ min: 1, max: 2500 }), { minLength: 1, maxLength: 50 })
    fc.assert(
      fc.property(size, fc.boolean(), pauses, (by, isFast, more) => {
        const world = new World()
        world.ahead = isFast ? by : -by
        world.answers(30)
        expect(world.guarded.isCorrecting).toBe(true)
        for (const pause of more) {
          world.answers(1, { pause, there: 1, back: 1 })
          expect(world.behind).toBeGreaterThanOrEqual(0)
          expect(world.behind).toBeLessThan(200)
        }
        expect(world.told).toHaveLength(1)
      }),
    )
  })

  it('notices at once when the machine is set, before the server has said another word', () => {
    const world = new World()
    world.answers(20)
    world.ahead = 86_400_000
    expect(world.behind).toBeGreaterThanOrEqual(0)
    world.ahead = -86_400_000
    expect(world.behind).toBeLessThan(200)
    world.ahead = 0
    expect(world.behind).toBe(0)
    expect(world.told.map(([isCorrecting]) => isCorrecting)).toEqual([true, false])
  })

  it('does not go to and fro at the limit', () => {
    const world = new World()
    world.ahead = 2300
    world.answers(30)
    for (let n = 0; n < 50; n++) {
      world.ahead = n % 2 === 0 ? 1900 : 2100
      world.answers(1)
    }
    expect(world.told).toEqual([[true, -2]])
  })

  it('goes by the machine before the first answer', () => {
    const world = new World()
    world.ahead = 5000
    expect(world.guarded.skew).toBeUndefined()
    expect(world.behind).toBe(-5000)
    expect(world.guarded.isCorrecting).toBe(false)
  })
})
