import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ElectionWorld, type Network, type Skew, trueClock } from './election-world.ts'

const second = 1000

/** A world in which `m0` leads and `m1` stands by. */
async function twoManagers(first: Skew = trueClock, second: Skew = trueClock) {
  const world = new ElectionWorld()
  const leader = world.join(first)
  await world.pass(100)
  const standby = world.join(second)
  await world.pass(4900)
  expect(world.leaders).toEqual([leader])
  return { world, leader, standby }
}

/** Lets time pass until the process leads, and returns how long that took. */
async function untilLeading(world: ElectionWorld, isLeading: () => boolean, limit = 60 * second): Promise<number> {
  const start = world.time.monotonic()
  while (!isLeading() && world.time.monotonic() - start < limit) await world.pass(50)
  return world.time.monotonic() - start
}

describe('an elector', () => {
  it('takes a Lease that nobody holds at once, and renews it every two seconds', async () => {
    const world = new ElectionWorld()
    const only = world.join()
    await world.pass(50)
    expect(only.isLeading).toBe(true)
    const spec = { holderIdentity: 'm0', leaseDurationSeconds: 15, leaseTransitions: 0 }
    expect(world.lease?.spec).toMatchObject(spec)
    const { acquireTime } = world.lease?.spec ?? {}
    await world.pass(60 * second)
    expect(world.writes).toBe(31)
    expect(world.lease?.spec).toMatchObject({ ...spec, acquireTime })
    expect(world.lease?.spec?.renewTime).toMatch(/^2026-11-30T00:01:00\.\d{6}Z$/)
  })

  it('takes over within 17 seconds when the leader was killed, whenever that was', async () => {
    for (let age = 0; age < 2000; age += 400) {
      const { world, leader, standby } = await twoManagers()
      await world.pass(age)
      leader.kill()
      const took = await untilLeading(world, () => standby.isLeading)
      expect(took).toBeGreaterThan(12 * second)
      expect(took).toBeLessThanOrEqual(17.1 * second)
      expect(world.lease?.spec).toMatchObject({ holderIdentity: 'm1', leaseTransitions: 1 })
    }
  })

  it('takes over at the next look when the leader gave the lead up, and the transitions are counted on', async () => {
    const { world, leader, standby } = await twoManagers()
    const terminated = leader.terminate()
    const took = await untilLeading(world, () => standby.isLeading)
    await terminated
    expect(took).toBeLessThanOrEqual(2.1 * second)
    expect(world.overlaps).toEqual([])
    expect(world.lease?.spec?.leaseTransitions).toBe(1)
    const ended = standby.terminate()
    await world.pass(second)
    await ended
    expect(world.lease?.spec?.leaseTransitions).toBe(1)
    expect(world.lease?.spec?.holderIdentity).toBe('')
  })

  it('leads no longer from the moment it begins to give the lead up, however late the answer', async () => {
    const { world, leader, standby } = await twoManagers()
    leader.latencyMillis = 900
    const terminated = leader.terminate()
    await untilLeading(world, () => standby.isLeading)
    await world.pass(2 * second)
    await terminated
    expect(world.overlaps).toEqual([])
    expect(world.leaders).toEqual([standby])
  })

  it.each([0, -1])('writes a later time at each renewal, by a wall clock of speed %i too', async (rate) => {
    const wall = (millis: number) => new Date(Date.UTC(2026, 10, 30) + rate * millis)
    const { world } = await twoManagers({ ...trueClock, wall })
    const times: (string | undefined)[] = []
    for (let look = 0; look < 20; look++) {
      times.push(world.lease?.spec?.renewTime)
      await world.pass(2 * second)
    }
    expect(new Set(times).size).toBe(20)
    expect(times).toEqual(times.toSorted())
  })

  it('that stands by writes nothing, and nothing when it ends', async () => {
    const { world, standby } = await twoManagers()
    await world.pass(60 * second)
    const ended = standby.terminate()
    await world.pass(5 * second)
    await ended
    expect(world.lease?.spec).toMatchObject({ holderIdentity: 'm0', leaseTransitions: 0 })
    expect(world.writes).toBe(35)
  })

  it('that stood still for longer than its lead loses it before it does anything else', async () => {
    const { world, leader, standby } = await twoManagers()
    leader.stall(20 * second)
    await world.pass(10 * second)
    expect(leader.isLeading).toBe(false)
    await world.pass(15 * second)
    expect(leader.end?.message).toContain('could not be renewed within 10 s')
    expect(world.leaders).toEqual([standby])
    expect(world.overlaps).toEqual([])
  })

  it('loses the lead to whoever has written himself into the Lease, and says who that is', async () => {
    const { world, leader } = await twoManagers()
    if (world.lease === undefined) throw new Error('no Lease')
    world.commit(world.lease, { ...world.lease.spec, holderIdentity: 'jane' })
    await world.pass(3 * second)
    expect(leader.end?.message).toBe('Lease graphwright-system/graphwright-manager is held by jane now')
  })

  it('that leads writes a Lease again that somebody deleted, or loses to who was faster: one of them leads', async () => {
    const { world } = await twoManagers()
    world.lease = undefined
    await world.pass(30 * second)
    expect(world.leaders).toHaveLength(1)
  })

  it.each([
    ['refused', 7400],
    ['swallowed', 5900],
  ] as const)('keeps the lead while requests are %s for up to %i ms', async (fault, longest) => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 4000 }),
        fc.integer({ min: 1, max: longest }),
        async (start, length) => {
          const { world, leader, standby } = await twoManagers()
          await world.pass(start)
          for (const candidate of [leader, standby]) candidate.network = fault
          await world.pass(length)
          for (const candidate of [leader, standby]) candidate.network = 'good'
          await world.pass(20 * second)
          expect(world.leaders).toEqual([leader])
          expect(world.reigns).toHaveLength(1)
        },
      ),
      { numRuns: 20 },
    )
  })

  it('keeps the lead while every write takes longer than it waits for an answer', async () => {
    const { world, leader } = await twoManagers()
    leader.commitMillis = 3.5 * second
    await world.pass(120 * second)
    expect(world.leaders).toEqual([leader])
    expect(world.reigns).toHaveLength(1)
  })

  it('that cannot reach the API server for longer gives up; one that stands by says so and waits', async () => {
    const { world, leader, standby } = await twoManagers()
    for (const candidate of [leader, standby]) candidate.network = 'refused'
    await world.pass(11 * second)
    expect(leader.end?.message).toContain('Unreachable')
    expect(standby.elector.problem).toBeUndefined()
    await world.pass(9 * second)
    expect(standby.elector.problem).toBe('leader election: Unreachable')
    standby.network = 'good'
    await world.pass(20 * second)
    expect(standby.elector.problem).toBeUndefined()
    expect(world.leaders).toEqual([standby])
  })
})

/** Clocks of a machine: a speed that is off by up to a tenth, and a wall time that may say anything. */
const skews = fc.record({
  rate: fc.double({ min: 0.9, max: 1.1, noNaN: true }),
  offset: fc.integer({ min: 0, max: 1e9 }),
  wall: fc.record({ start: fc.integer({ min: 0, max: 4e12 }), rate: fc.constantFrom(-1, 0, 0.5, 1, 100) }).map(
    ({ start, rate }) =>
      (millis: number) =>
        new Date(start + millis * rate),
  ),
})

interface Mishap {
  readonly after: number
  readonly who: number
  readonly what: Network | 'kill' | 'terminate' | 'stall' | 'slow' | 'start'
  readonly millis: number
}

const mishaps = fc.record({
  after: fc.integer({ min: 0, max: 9000 }),
  who: fc.nat(9),
  what: fc.constantFrom<Mishap['what'][]>(
    'refused',
    'swallowed',
    'good',
    'kill',
    'terminate',
    'stall',
    'slow',
    'start',
  ),
  millis: fc.integer({ min: 0, max: 25_000 }),
})

function strike(world: ElectionWorld, { who, what, millis }: Mishap, skew: Skew): void {
  const victim = world.candidates[who % world.candidates.length]
  if (victim === undefined || what === 'start') return void world.join(skew)
  if (what === 'kill') victim.kill()
  else if (what === 'terminate') void victim.terminate()
  else if (what === 'stall') victim.stall(millis)
  else if (what === 'slow') victim.latencyMillis = millis / 8
  else victim.network = what
}

async function play(clocks: readonly Skew[], story: readonly Mishap[]): Promise<ElectionWorld> {
  const world = new ElectionWorld()
  for (const skew of clocks) world.join(skew)
  for (const mishap of story) {
    await world.pass(mishap.after)
    strike(world, mishap, clocks[mishap.who % clocks.length] ?? trueClock)
  }
  return world
}

describe('electors among mishaps', () => {
  const stories = fc.array(mishaps, { maxLength: 12 })
  const machines = fc.array(skews, { minLength: 2, maxLength: 3 })

  it('never lead two at a time, and one leads when everything is well again', async () => {
    await fc.assert(
      fc.asyncProperty(machines, stories, async (clocks, story) => {
        const world = await play(clocks, story)
        for (const candidate of world.candidates) {
          candidate.network = 'good'
          candidate.latencyMillis = 5
        }
        await world.pass(30 * second)
        world.join(clocks[0])
        await world.pass(25 * second)
        expect(world.overlaps).toEqual([])
        expect(world.leaders).toHaveLength(1)
      }),
      { numRuns: 150 },
    )
  }, 60_000)

  it('do the same whatever their wall clocks say', async () => {
    await fc.assert(
      fc.asyncProperty(machines, stories, async (clocks, story) => {
        const world = await play(clocks, story)
        const honest = await play(
          clocks.map((skew) => ({ ...skew, wall: trueClock.wall })),
          story,
        )
        expect(world.reigns).toEqual(honest.reigns)
      }),
      { numRuns: 60 },
    )
  }, 60_000)
})
