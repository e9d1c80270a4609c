import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { afterAnswer, boundsAt, dateOf, type ServerClock, type TimedAnswer } from '../../../src/kube/server-clock.ts'

/** One exchange: how long after the one before it was sent, and how long it took there and back. */
interface Exchange {
  readonly pause: number
  readonly there: number
  readonly back: number
}

/** In quarters, which doubles add up exactly: an answer that rounding puts into another second is no server's. */
const millis = (max: number) => fc.integer({ min: 0, max: 4 * max }).map((quarters) => quarters / 4)
const exchange = (slowest: number) =>
  fc.record({ pause: millis(5000), there: millis(slowest), back: millis(slowest) }) as fc.Arbitrary<Exchange>

/** Answers of a server whose wall clock shows `serverAt(t)` at our monotonic instant t. */
function answers(exchanges: readonly Exchange[], serverAt: (instant: number) => number, start = 0): TimedAnswer[] {
  let at = start
  return exchanges.map(({ pause, there, back }) => {
    const sentAt = at + pause
    const date = Math.floor(serverAt(sentAt + there) / 1000) * 1000
    const receivedAt = sentAt + there + back
    at = receivedAt
    return { date, sentAt, receivedAt }
  })
}

const learn = (all: readonly TimedAnswer[], from: ServerClock = {}) => all.reduce(afterAnswer, from)

const offset = fc.integer({ min: -1e10, max: 2e12 })

describe('what is known of the clock of a server', () => {
  it('is never wrong, however slow and lopsided its answers and however the clocks drift within what NTP does', () => {
    const rate = fc.double({ min: -0.000_9, max: 0.000_9, noNaN: true })
    fc.assert(
      fc.property(fc.array(exchange(30_000), { minLength: 1, maxLength: 40 }), offset, rate, (all, base, drift) => {
        const serverAt = (t: number) => base + t * (1 + drift)
        let known: ServerClock = {}
        for (const answer of answers(all, serverAt)) {
          known = afterAnswer(known, answer)
          const { bounds = { low: 1, high: 0, at: 0 } } = known
          const truth = serverAt(bounds.at) - bounds.at
          // Doubles of this size are exact to a quarter of a microsecond.
          expect(bounds.low).toBeLessThanOrEqual(truth + 0.01)
          expect(bounds.high).toBeGreaterThanOrEqual(truth - 0.01)
          expect(known.rival).toBeUndefined()
        }
      }),
    )
  })

  it('is never less precise than the best of its answers', () => {
    fc.assert(
      fc.property(fc.array(exchange(2000), { minLength: 1, maxLength: 40 }), offset, (all, base) => {
        const told = answers(all, (t) => base + t)
        const { bounds } = learn(told)
        const last = told.at(-1)?.receivedAt ?? 0
        const widths = told.map(
          ({ sentAt, receivedAt }) => 1000 + receivedAt - sentAt + 2 * (last - receivedAt) * 0.001,
        )
        expect((bounds?.high ?? 0) - (bounds?.low ?? 0)).toBeLessThanOrEqual(Math.min(...widths) + 0.01)
      }),
    )
  })

  it('is exact to a tenth of a second after some answers, though a date is cut to the second', () => {
    fc.assert(
      fc.property(offset, millis(1000), (base, begin) => {
        const all = Array.from({ length: 60 }, () => ({ pause: 70, there: 3, back: 5 }))
        const { bounds } = learn(answers(all, (t) => base + t, begin))
        expect((bounds?.high ?? 0) - (bounds?.low ?? 0)).toBeLessThanOrEqual(100)
      }),
    )
  })

  it('follows a clock that was set, after three answers', () => {
    const jump = fc.oneof(
      fc.double({ min: 3000, max: 1e9, noNaN: true }),
      fc.double({ min: -1e9, max: -3000, noNaN: true }),
    )
    const calm = fc.array(exchange(200), { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(
        calm,
        fc.array(exchange(200), { minLength: 3, maxLength: 3 }),
        offset,
        jump,
        (before, now, base, by) => {
          const told = answers(before, (t) => base + t)
          const known = learn(told)
          const set = answers(now, (t) => base + by + t, told.at(-1)?.receivedAt)
          const { bounds } = learn(set, known)
          expect(bounds?.low).toBeLessThanOrEqual(base + by + 0.01)
          expect(bounds?.high).toBeGreaterThanOrEqual(base + by - 0.01)
        },
      ),
    )
  })

  it('is not shaken by single answers of another machine', () => {
    fc.assert(
      fc.property(fc.array(exchange(200), { minLength: 4, maxLength: 40 }), offset, millis(1e9), (all, base, by) => {
        const good = answers(all, (t) => base + t)
        const told = good.map((answer, index) =>
          index % 3 === 2 ? { ...answer, date: answer.date + 3000 + Math.floor(by) } : answer,
        )
        const { bounds } = learn(told)
        expect(bounds?.low).toBeLessThanOrEqual(base + 0.01)
        expect(bounds?.high).toBeGreaterThanOrEqual(base - 0.01)
      }),
    )
  })

  it('gets wider while nothing is heard', () => {
    const { bounds = { low: 0, high: 0, at: 0 } } = learn([{ date: 5000, sentAt: 0, receivedAt: 10 }])
    expect(bounds).toEqual({ low: 4990, high: 6000, at: 10 })
    expect(boundsAt(bounds, 60_010)).toEqual({ low: 4930, high: 6060, at: 60_010 })
    expect(boundsAt(bounds, 0)).toEqual(bounds)
  })
})

describe('the header', () => {
  it('is a date of HTTP', () => {
    expect(dateOf('Mon, 05 Jan 2026 10:00:00 GMT')).toBe(Date.UTC(2026, 0, 5, 10))
  })

  it.each([
    undefined,
    '',
    '0',
    '99999',
    'yesterday',
    '2026-01-05T10:00:00Z',
    '+275760-09-13T00:00:00Z',
    'Mon, 05 Jan 2026 10:00:00 +0100',
    'Mon, 05 Jan 2026 10:00:00 GMT, Mon, 05 Jan 2027 10:00:00 GMT',
    'Mon, 99 Foo 2026 10:00:00 GMT',
    'Thu, 01 Jan 1970 00:00:00 GMT',
    'Mon, 01 Jan 0001 00:00:00 GMT',
  ])('tells nothing where it is none that a server can have: %j', (header) => {
    expect(dateOf(header)).toBeUndefined()
  })

  it('of any text is an instant that can be reckoned with', () => {
    fc.assert(
      fc.property(fc.string(), fc.date({ noInvalidDate: true }), (text, date) => {
        for (const header of [text, date.toUTCString()]) {
          const told = dateOf(header)
          if (told !== undefined) expect(told > 0 && told < 2.6e14).toBe(true)
        }
      }),
    )
  })
})
