import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { WorkQueue } from '../../../src/runtime/queue.ts'
import { TimelyWork } from '../../../src/runtime/timely-work.ts'
import { FakeClock } from '../../kit/fake-clock.ts'

/** A queue on a clock that tests move. */
function queueAt(clock: FakeClock) {
  return new WorkQueue({ clock })
}

test('hands out keys in the order of their arrival, events before what the first list brought', async () => {
  const queue = queueAt(new FakeClock())
  queue.add('listed', 'list')
  queue.add('first')
  queue.add('second')
  expect(await queue.get()).toBe('first')
  expect(await queue.get()).toBe('second')
  expect(await queue.get()).toBe('listed')
})

test('an event moves a listed key forward', async () => {
  const queue = queueAt(new FakeClock())
  queue.add('a', 'list')
  queue.add('b', 'list')
  queue.add('b', 'event')
  expect(await queue.get()).toBe('b')
  expect(await queue.get()).toBe('a')
  expect(queue.depth).toBe(0)
})

test('a burst of adds is one pass', async () => {
  const queue = queueAt(new FakeClock())
  for (let i = 0; i < 100; i++) queue.add('a')
  expect(await queue.get()).toBe('a')
  queue.done('a')
  expect(queue.depth).toBe(0)
})

test('a key added while a worker has it comes back when the worker is done, not before', async () => {
  const queue = queueAt(new FakeClock())
  queue.add('a')
  await queue.get()
  queue.add('a')
  expect(queue.depth).toBe(0)
  queue.done('a')
  expect(await queue.get()).toBe('a')
})

test('the earliest of several deadlines wins', async () => {
  const clock = new FakeClock()
  const queue = queueAt(clock)
  queue.addAfter('a', 500)
  queue.addAfter('a', 100)
  queue.addAfter('a', 900)
  clock.tick(99)
  expect(queue.depth).toBe(0)
  clock.tick(1)
  expect(queue.depth).toBe(1)
  await queue.get()
  queue.done('a')
  clock.tick(10_000)
  expect(queue.depth).toBe(0)
})

test('a deadline set while a worker has the key is kept', async () => {
  const clock = new FakeClock()
  const queue = queueAt(clock)
  queue.add('a')
  await queue.get()
  queue.addAfter('a', 50)
  queue.done('a')
  expect(queue.depth).toBe(0)
  clock.tick(50)
  expect(queue.depth).toBe(1)
})

test('a deadline in a year arms a timer that a year has to pass for', () => {
  const clock = new FakeClock()
  const queue = queueAt(clock)
  queue.addAfter('a', 365 * 86_400_000)
  clock.tick(364 * 86_400_000)
  expect(queue.depth).toBe(0)
  clock.tick(86_400_000)
  expect(queue.depth).toBe(1)
})

test('keeps one timer, whatever the number of deadlines', () => {
  const clock = new FakeClock()
  const queue = queueAt(clock)
  for (let i = 0; i < 1000; i++) queue.addAfter(`key-${i}`, 1000 - i)
  expect(clock.pending).toBe(1)
  expect(queue.waiting).toBe(1000)
})

test('retries double from one second to five minutes, and start over after a success', () => {
  const queue = queueAt(new FakeClock())
  const delays = Array.from({ length: 12 }, () => queue.retry('a'))
  delays.forEach((delay, n) => {
    const expected = Math.min(1000 * 2 ** n, 300_000)
    expect(delay).toBeGreaterThanOrEqual(expected * 0.9)
    expect(delay).toBeLessThanOrEqual(Math.min(expected * 1.1, 300_000))
  })
  expect(queue.failures('a')).toBe(12)
  queue.forget('a')
  expect(queue.retry('a')).toBeLessThanOrEqual(1100)
})

test('retries of all keys together keep to ten a second after a hundred', () => {
  const queue = queueAt(new FakeClock())
  const delays = Array.from({ length: 300 }, (_, n) => queue.retry(`key-${n}`))
  expect(Math.max(...delays.slice(0, 100))).toBeLessThanOrEqual(1100)
  expect(delays[299]).toBeCloseTo(20_000, -1)
})

test('a thousand keys that fail at their instant are retried within seconds, spread, ahead of the others', async () => {
  const clock = new FakeClock()
  const queue = queueAt(clock)
  const keys = Array.from({ length: 1000 }, (_, n) => `key-${n}`)
  for (const key of keys) queue.add(key, 'timely')
  const delays = []
  for (const key of keys) {
    expect(await queue.get()).toBe(key)
    delays.push(queue.retry(key))
    queue.done(key)
  }
  expect(Math.max(...delays)).toBeLessThanOrEqual(1500)
  const [earliest, latest] = [Math.min(...delays), Math.max(...delays)]
  expect(latest - earliest).toBeGreaterThan(500)
  queue.add('event')
  clock.tick(1500)
  expect(queue.depth).toBe(1001)
  expect(keys).toContain(await queue.get())
})

test('a key that keeps failing after its instant is an ordinary one from its fourth failure', async () => {
  const clock = new FakeClock()
  const queue = queueAt(clock)
  queue.add('a', 'timely')
  for (let failures = 1; failures <= 4; failures++) {
    expect(await queue.get()).toBe('a')
    const delay = queue.retry('a')
    queue.done('a')
    queue.add('event')
    clock.tick(delay)
    if (failures < 4) continue
    expect(delay).toBeGreaterThanOrEqual(7200)
    expect(await queue.get()).toBe('event')
  }
})

test('a draining queue hands nothing out, takes nothing in, and waits for the keys in work', async () => {
  const clock = new FakeClock()
  const queue = queueAt(clock)
  queue.add('a')
  await queue.get()
  const idle = queue.get()
  queue.addAfter('later', 10)
  let drained = false
  const drain = queue.drain().then(() => {
    drained = true
  })
  expect(await idle).toBeUndefined()
  queue.add('b')
  queue.add('a')
  clock.tick(100)
  expect(queue.depth).toBe(0)
  expect(drained).toBe(false)
  queue.done('a')
  await drain
  expect(await queue.get()).toBeUndefined()
})

test('a drain ends when its signal is aborted, though a worker still holds a key', async () => {
  const queue = queueAt(new FakeClock())
  queue.add('a')
  await queue.get()
  const deadline = new AbortController()
  const drain = queue.drain(deadline.signal)
  deadline.abort()
  await drain
})

describe('what is due at its instant', () => {
  test('is handed out before everything else, also where it was waiting already', async () => {
    const clock = new FakeClock()
    const queue = queueAt(clock)
    queue.addAfter('scheduled', 100, 'timely')
    queue.add('event')
    queue.add('scheduled', 'list')
    clock.tick(100)
    expect(await queue.get()).toBe('scheduled')
    expect(await queue.get()).toBe('event')
  })

  test('keeps its instant, though it is due for another reason when it is set', async () => {
    const clock = new FakeClock()
    const queue = queueAt(clock)
    queue.add('other')
    queue.add('scheduled')
    queue.addAfter('scheduled', 100, 'timely')
    clock.tick(100)
    expect(await queue.get()).toBe('scheduled')
  })

  test('stays so when it cannot be looked at yet', async () => {
    const clock = new FakeClock()
    const queue = queueAt(clock)
    queue.add('scheduled', 'timely')
    await queue.get()
    queue.postpone('scheduled', 100)
    queue.done('scheduled')
    queue.add('event')
    clock.tick(100)
    expect(await queue.get()).toBe('scheduled')
  })

  test('makes every queue wait until the last of it is done', async () => {
    const clock = new FakeClock()
    const timely = new TimelyWork(clock)
    const schedules = new WorkQueue({ clock, timely })
    const firings = new WorkQueue({ clock, timely })
    for (const key of ['a', 'b']) schedules.add(key, 'timely')
    schedules.add('watermark')
    firings.add('firing')
    const handedOut: (string | undefined)[] = []
    void firings.get().then((key) => handedOut.push(key))
    expect(await schedules.get()).toBe('a')
    expect(await schedules.get()).toBe('b')
    void schedules.get().then((key) => handedOut.push(key))
    schedules.done('a')
    await setImmediate()
    expect(handedOut).toEqual([])
    schedules.done('b')
    await setImmediate()
    expect(handedOut.sort()).toEqual(['firing', 'watermark'])
  })

  test('holds nobody up for longer than five seconds, and again the next time', async () => {
    const clock = new FakeClock()
    const queue = new WorkQueue({ clock, timely: new TimelyWork(clock) })
    queue.add('slow', 'timely')
    queue.add('other')
    expect(await queue.get()).toBe('slow')
    clock.tick(4999)
    let other: string | undefined
    const got = queue.get().then((key) => {
      other = key
    })
    await setImmediate()
    expect(other).toBeUndefined()
    clock.tick(1)
    await got
    expect(other).toBe('other')
    queue.done('slow')
    queue.done('other')
    queue.add('slow', 'timely')
    queue.add('other')
    expect(await queue.get()).toBe('slow')
    let next: string | undefined
    void queue.get().then((key) => {
      next = key
    })
    await setImmediate()
    expect(next).toBeUndefined()
  })

  test('that is dropped by a queue that drains holds nobody up', async () => {
    const clock = new FakeClock()
    const timely = new TimelyWork(clock)
    const ending = new WorkQueue({ clock, timely })
    ending.add('in work', 'timely')
    ending.add('dropped', 'timely')
    const queue = new WorkQueue({ clock, timely })
    queue.add('other')
    expect(await ending.get()).toBe('in work')
    void ending.drain()
    expect(timely.hasPrecedence).toBe(true)
    ending.done('in work')
    expect(timely.hasPrecedence).toBe(false)
    expect(await queue.get()).toBe('other')
  })
})

test('tells its observer about depth, waiting and work', async () => {
  const clock = new FakeClock()
  const seen = { added: 0, retried: 0, depth: [] as number[], waited: [] as number[], worked: [] as number[] }
  const queue = new WorkQueue({
    clock,
    observer: {
      added: () => seen.added++,
      retried: () => seen.retried++,
      depth: (keys) => seen.depth.push(keys),
      waited: (seconds) => seen.waited.push(seconds),
      worked: (seconds) => seen.worked.push(seconds),
    },
  })
  queue.add('a')
  clock.tick(2000)
  await queue.get()
  clock.tick(3000)
  queue.retry('a')
  queue.done('a')
  expect(seen).toMatchObject({ added: 1, retried: 1, waited: [2], worked: [3] })
  expect(seen.depth).toContain(1)
  expect(seen.depth.at(-1)).toBe(0)
})

type Step =
  | { readonly do: 'add'; readonly key: string; readonly list: boolean }
  | { readonly do: 'addAfter'; readonly key: string; readonly millis: number }
  | { readonly do: 'retry'; readonly key: string }
  | { readonly do: 'tick'; readonly millis: number }
  | { readonly do: 'finish'; readonly nth: number }

const key = fc.constantFrom('a', 'b', 'c')
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('add' as const), key, list: fc.boolean() }),
  fc.record({ do: fc.constant('addAfter' as const), key, millis: fc.integer({ min: 0, max: 400 }) }),
  fc.record({ do: fc.constant('retry' as const), key }),
  fc.record({ do: fc.constant('tick' as const), millis: fc.integer({ min: 1, max: 300 }) }),
  fc.record({ do: fc.constant('finish' as const), nth: fc.nat(3) }),
)

/** Plays workers that take keys whenever they are free, and checks the laws of the queue at every take. */
class Play {
  readonly clock = new FakeClock()
  readonly queue = queueAt(this.clock)
  readonly working: string[] = []
  /** Per key: when it has to be taken at the latest, given a free worker. Absent: nothing was asked for. */
  readonly owed = new Map<string, number>()
  readonly workers: number
  /** Laws that were broken. */
  readonly broken: string[] = []

  constructor(workers: number) {
    this.workers = workers
    for (let i = 0; i < workers; i++) this.take()
  }

  take() {
    void this.queue.get().then((taken) => {
      if (taken === undefined) return
      const due = this.owed.get(taken)
      if (this.working.includes(taken)) this.broken.push(`two workers on ${taken}`)
      if (due === undefined) this.broken.push(`${taken} taken though nobody asked`)
      else if (due > this.clock.monotonic()) this.broken.push(`${taken} taken before its earliest deadline`)
      this.owed.delete(taken)
      this.working.push(taken)
    })
  }

  owe(key: string, millis: number) {
    const due = this.clock.monotonic() + millis
    this.owed.set(key, Math.min(this.owed.get(key) ?? Number.POSITIVE_INFINITY, due))
  }

  async run(next: Step) {
    switch (next.do) {
      case 'add':
        this.owe(next.key, 0)
        this.queue.add(next.key, next.list ? 'list' : 'event')
        break
      case 'addAfter':
        this.owe(next.key, next.millis)
        this.queue.addAfter(next.key, next.millis)
        break
      case 'retry': {
        const before = this.clock.monotonic()
        this.owe(next.key, this.queue.retry(next.key))
        expect(this.clock.monotonic()).toBe(before)
        break
      }
      case 'tick':
        await this.clock.advance(next.millis)
        break
      case 'finish':
        this.finish(next.nth)
    }
    await setImmediate()
    this.checkPromptness()
    expect(this.broken).toEqual([])
  }

  finish(nth: number) {
    const [done] = this.working.splice(nth % Math.max(1, this.working.length), 1)
    if (done === undefined) return
    this.queue.done(done)
    this.take()
  }

  /** With free workers, whatever is due and not in work has been taken. */
  checkPromptness() {
    for (const [key, due] of this.owed) {
      const mustWait = this.working.includes(key) || this.working.length === this.workers
      if (!mustWait && due <= this.clock.monotonic()) this.broken.push(`${key} is due and not taken`)
    }
  }
}

test('never two workers on one key, no add is lost, the earliest deadline wins', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const play = new Play(2)
      for (const next of steps) await play.run(next)
      for (let i = 0; i < 20 && (play.owed.size > 0 || play.working.length > 0); i++) {
        await play.run({ do: 'finish', nth: 0 })
        await play.run({ do: 'finish', nth: 0 })
        await play.run({ do: 'tick', millis: 300_000 })
      }
      expect([...play.owed.keys()], 'asked for and never taken').toEqual([])
      expect(play.queue.depth + play.queue.waiting).toBe(0)
    }),
    { numRuns: 150 },
  )
})
