import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Schedule } from '../../../src/schedule/cron.ts'
import {
  type DueDecision,
  dueOccurrences,
  type MissedOccurrences,
  onTimeMillis,
  type ScheduleState,
  type SkipReason,
} from '../../../src/schedule/due.ts'
import { startOf } from '../../../src/schedule/jitter.ts'
import { countOccurrences, nextOccurrence } from '../../../src/schedule/occurrence.ts'
import { oracleOccurrences } from './oracle.ts'
import { expressions, iso, nearNight, scheduleOf } from './schedules.ts'

const minute = 60_000
const hour = 60 * minute

function stateOf(now: string, options: Partial<Omit<ScheduleState, 'now'>> = {}): ScheduleState {
  return {
    schedule: scheduleOf('0 * * * *'),
    baseline: { createdAt: new Date('2026-12-01T00:00:00Z') },
    missed: { policy: 'Latest' },
    jitterSeconds: 0,
    identity: 'a-uid',
    now: new Date(now),
    ...options,
  }
}

/** The decision with times as `12:00` of one day, and dates as they are. */
function said({ fire, skipped, watermark, next }: DueDecision) {
  const time = (at: Date | undefined) => at?.toISOString().slice(11, 16)
  return {
    fire: fire.map(({ occurrence }) => time(occurrence)),
    skipped: skipped.map(({ reason, count, first, last }) => `${reason} ${count} ${time(first)} ${time(last)}`),
    watermark: time(watermark),
    next: time(next),
  }
}

describe('[A-234] what is made up for', () => {
  const late = '2026-12-01T05:30:00Z'
  const punctual = '2026-12-01T05:00:20Z'

  it.each<[string, string, MissedOccurrences, string[], string[]]>([
    ['the newest', late, { policy: 'Latest' }, ['05:00'], ['Superseded 4 01:00 04:00']],
    ['the newest, on time', punctual, { policy: 'Latest' }, ['05:00'], ['Superseded 4 01:00 04:00']],
    ['all', late, { policy: 'All' }, ['01:00', '02:00', '03:00', '04:00', '05:00'], []],
    ['the newest two', late, { policy: 'All', limit: 2 }, ['04:00', '05:00'], ['LimitExceeded 3 01:00 03:00']],
    [
      'two, and what is on time',
      punctual,
      { policy: 'All', limit: 2 },
      ['03:00', '04:00', '05:00'],
      ['LimitExceeded 2 01:00 02:00'],
    ],
    ['none', late, { policy: 'None' }, [], ['MissedPolicyNone 5 01:00 05:00']],
    ['what is on time', punctual, { policy: 'None' }, ['05:00'], ['MissedPolicyNone 4 01:00 04:00']],
    [
      'all within the deadline',
      late,
      { policy: 'All', deadlineSeconds: 2 * 3600 },
      ['04:00', '05:00'],
      ['DeadlineExceeded 3 01:00 03:00'],
    ],
    [
      'the newest within the deadline',
      late,
      { policy: 'Latest', deadlineSeconds: 3 * 3600 },
      ['05:00'],
      ['DeadlineExceeded 2 01:00 02:00', 'Superseded 2 03:00 04:00'],
    ],
    [
      'nothing: the newest is too old',
      late,
      { policy: 'Latest', deadlineSeconds: 600 },
      [],
      ['DeadlineExceeded 5 01:00 05:00'],
    ],
    [
      'what is exactly as old as the deadline',
      late,
      { policy: 'Latest', deadlineSeconds: 1800 },
      ['05:00'],
      ['DeadlineExceeded 4 01:00 04:00'],
    ],
    [
      'nothing: even on time it is too late',
      punctual,
      { policy: 'None', deadlineSeconds: 10 },
      [],
      ['MissedPolicyNone 4 01:00 04:00', 'DeadlineExceeded 1 05:00 05:00'],
    ],
    [
      'a limit counts what the deadline leaves',
      late,
      { policy: 'All', limit: 1, deadlineSeconds: 3 * 3600 },
      ['05:00'],
      ['DeadlineExceeded 2 01:00 02:00', 'LimitExceeded 2 03:00 04:00'],
    ],
  ])('%s', (_title, now, missed, fire, skipped) => {
    expect(said(dueOccurrences(stateOf(now, { missed })))).toEqual({ fire, skipped, watermark: '05:00', next: '06:00' })
  })

  it('the newest, where nothing is said', () => {
    expect(said(dueOccurrences(stateOf(late, { missed: undefined }))).fire).toEqual(['05:00'])
  })

  it('a minute late is on time, a millisecond more is missed', () => {
    const missed: MissedOccurrences = { policy: 'None' }
    expect(dueOccurrences(stateOf('2026-12-01T01:01:00.000Z', { missed })).fire).toHaveLength(1)
    expect(dueOccurrences(stateOf('2026-12-01T01:01:00.001Z', { missed })).fire).toHaveLength(0)
  })

  it('[A-004] every due occurrence is a firing of its own', () => {
    const { fire } = dueOccurrences(stateOf(late, { missed: { policy: 'All' } }))
    expect(new Set(fire.map(({ occurrence }) => occurrence.getTime())).size).toBe(5)
  })

  it('years of minutes are counted, and at most a hundred of them made up for', () => {
    const schedule = scheduleOf('* * * * *', 'Europe/Berlin')
    const state = stateOf('2031-12-01T00:00:30Z', { schedule, missed: { policy: 'All' } })
    const { fire, skipped } = dueOccurrences(state)
    expect(fire).toHaveLength(101)
    expect((skipped[0]?.count ?? 0) + 101).toBe(countOccurrences(schedule, state.baseline.createdAt, state.now))
  })
})

describe('the baseline', () => {
  const before = new Date('2026-12-01T03:00:00Z')

  it.each([
    ['the watermark', { watermark: before }],
    ['resuming', { baseline: { createdAt: new Date(0), resumedAt: before } }],
    ['a change of the schedule', { baseline: { createdAt: new Date(0), scheduleChangedAt: before } }],
    ['creation', { baseline: { createdAt: before }, watermark: new Date(0) }],
  ])('%s: nothing up to and at it is due', (_title, options) => {
    const decision = dueOccurrences(stateOf('2026-12-01T04:00:10Z', { ...options, missed: { policy: 'All' } }))
    expect(said(decision)).toMatchObject({ fire: ['04:00'], skipped: [] })
  })

  it('an edited schedule never fires the time that it would have had', () => {
    const edited = stateOf('2026-12-01T12:30:00Z', {
      schedule: scheduleOf('0 12 * * *'),
      watermark: new Date('2026-11-30T15:00:00Z'),
      baseline: { createdAt: new Date(0), scheduleChangedAt: new Date('2026-12-01T12:30:00Z') },
    })
    expect(dueOccurrences(edited)).toMatchObject({ fire: [], next: new Date('2026-12-02T12:00:00Z') })
  })

  it('nothing due: the watermark is the one that was, and there is nothing to write', () => {
    expect(said(dueOccurrences(stateOf('2026-12-01T00:59:59.999Z')))).toEqual({
      fire: [],
      skipped: [],
      watermark: undefined,
      next: '01:00',
    })
  })

  it('a clock that jumps back repeats nothing and comes to what is next', () => {
    const watermark = new Date('2026-12-01T05:00:00Z')
    const back = stateOf('2026-12-01T02:30:00Z', { watermark, missed: { policy: 'All' } })
    expect(said(dueOccurrences(back))).toEqual({ fire: [], skipped: [], watermark: '05:00', next: '06:00' })
  })
})

describe('[A-200] jitter', () => {
  const schedule = scheduleOf('*/10 * * * *')
  const occurrence = new Date('2026-12-01T12:00:00Z')

  it('depends on the Automation and the occurrence alone', () => {
    const start = startOf(schedule, occurrence, 300, 'uid')
    expect(startOf(schedule, occurrence, 300, 'uid')).toEqual(start)
    expect(startOf(schedule, occurrence, 300, 'other')).not.toEqual(start)
    expect(startOf(schedule, new Date('2026-12-01T12:10:00Z'), 300, 'uid').getTime() - 10 * minute).not.toBe(
      start.getTime(),
    )
    expect(startOf(schedule, occurrence, 0, 'uid')).toEqual(occurrence)
  })

  it('never reaches the next occurrence, and spreads over all that it may', () => {
    const delays = Array.from({ length: 2000 }, (_, uid) => startOf(schedule, occurrence, 3600, `${uid}`).getTime())
    const minutes = delays.map((at) => (at - occurrence.getTime()) / minute)
    expect(Math.min(...minutes)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...minutes)).toBeLessThan(10)
    for (let from = 0; from < 10; from += 1) {
      const share = minutes.filter((delay) => delay >= from && delay < from + 1).length
      expect(share).toBeGreaterThan(130)
      expect(share).toBeLessThan(270)
    }
  })

  it('is waited for: the occurrence is next, and keeps its nominal time', () => {
    const waiting = stateOf('2026-12-01T01:00:00Z', { jitterSeconds: 1800 })
    const { fire, next, nextStartAt, watermark } = dueOccurrences(waiting)
    expect([fire, watermark, next]).toEqual([[], undefined, new Date('2026-12-01T01:00:00Z')])
    if (nextStartAt === undefined) throw new Error('nothing is next')
    expect(dueOccurrences({ ...waiting, now: new Date(nextStartAt.getTime() - 1) }).fire).toEqual([])
    expect(dueOccurrences({ ...waiting, now: nextStartAt }).fire).toEqual([{ occurrence: next, startAt: nextStartAt }])
  })

  it('lateness is counted from the start, not from the nominal time', () => {
    const missed: MissedOccurrences = { policy: 'None', deadlineSeconds: 5 }
    const waiting = stateOf('2026-12-01T01:00:00Z', { jitterSeconds: 3600, missed })
    const start = dueOccurrences(waiting).nextStartAt?.getTime() ?? 0
    expect(dueOccurrences({ ...waiting, now: new Date(start + 5000) }).fire).toHaveLength(1)
    expect(dueOccurrences({ ...waiting, now: new Date(start + 5001) }).fire).toHaveLength(0)
  })
})

interface Due {
  readonly occurrence: number
  readonly start: number
}

/** The policy by its words, over a list of everything due. */
function classify(due: readonly Due[], missed: MissedOccurrences, now: number): (SkipReason | 'fire')[] {
  const deadline = (missed.deadlineSeconds ?? Number.POSITIVE_INFINITY) * 1000
  const newest = due.at(-1)
  const isMissed = (item: Due) => item !== newest || now - item.start > onTimeMillis
  const isExpired = (item: Due) => now - item.start > deadline
  const madeUp = new Set(due.filter((item) => isMissed(item) && !isExpired(item)).slice(-(missed.limit ?? 100)))
  return due.map((item) => {
    if (missed.policy === 'None' && isMissed(item)) return 'MissedPolicyNone'
    if (isExpired(item)) return 'DeadlineExceeded'
    if (missed.policy === 'Latest' && item !== newest) return 'Superseded'
    if (missed.policy === 'All' && isMissed(item) && !madeUp.has(item)) return 'LimitExceeded'
    return 'fire'
  })
}

const policies: fc.Arbitrary<MissedOccurrences> = fc.record({
  policy: fc.constantFrom('Latest', 'All', 'None'),
  deadlineSeconds: fc.option(fc.integer({ min: 1, max: 100_000 }), { nil: undefined }),
  limit: fc.option(fc.integer({ min: 1, max: 100 }), { nil: undefined }),
})

const jitters = fc.constantFrom(0, 0, 30, 600, 3600)

describe('each due occurrence is fired or skipped for the reason that the policy gives', () => {
  it('whatever the schedule, the zone, the policy and the downtime', () => {
    const downtime = fc.integer({ min: 0, max: 36 * hour })
    fc.assert(
      fc.property(
        expressions,
        nearNight,
        downtime,
        policies,
        jitters,
        (expression, { timezone, from }, millis, missed, jitterSeconds) => {
          const schedule = scheduleOf(expression, timezone)
          const now = new Date(from.getTime() + millis)
          const due = oracleOccurrences(expression, timezone, from, now)
            .map((at) => ({ occurrence: at, start: startOf(schedule, new Date(at), jitterSeconds, 'uid').getTime() }))
            .filter(({ start }) => start <= now.getTime())
          const reasons = classify(due, missed, now.getTime())
          const decision = dueOccurrences({
            schedule,
            baseline: { createdAt: from },
            missed,
            jitterSeconds,
            identity: 'uid',
            now,
          })
          const expected = due.filter((_, index) => reasons[index] === 'fire')
          expect(iso(decision.fire.map(({ occurrence }) => occurrence))).toEqual(
            iso(expected.map(({ occurrence }) => occurrence)),
          )
          expect(iso(decision.fire.map(({ startAt }) => startAt))).toEqual(iso(expected.map(({ start }) => start)))
          expect(runs(decision)).toEqual(runsOf(due, reasons))
          expect(decision.watermark?.getTime()).toBe(due.at(-1)?.occurrence)
          expect(decision.nextStartAt === undefined || decision.nextStartAt > now).toBe(true)
        },
      ),
      { numRuns: 200 },
    )
  })
})

function runs({ skipped }: DueDecision): unknown[] {
  return skipped.map(({ reason, count, first, last }) => [reason, count, first.getTime(), last.getTime()])
}

function runsOf(due: readonly Due[], reasons: readonly (SkipReason | 'fire')[]): unknown[] {
  const names = [...new Set(reasons)].filter((reason) => reason !== 'fire')
  return names.map((name) => {
    const own = due.filter((_, index) => reasons[index] === name)
    return [name, own.length, own[0]?.occurrence, own.at(-1)?.occurrence]
  })
}

/** A look at the clock after some time, which may have been set back, by a manager that may die while it acts. */
interface Look {
  readonly passed: number
  readonly setBack: number
  /** After how many firings it dies; undefined where it lives. */
  readonly diesAfter: number | undefined
}

const rarely = (arbitrary: fc.Arbitrary<number>, otherwise: number | undefined) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(otherwise) }, { weight: 1, arbitrary })

const looks: fc.Arbitrary<Look[]> = fc.array(
  fc.record({
    passed: fc.oneof(fc.integer({ min: 0, max: 2 * hour }), fc.integer({ min: 0, max: 20 * hour })),
    setBack: rarely(fc.integer({ min: 0, max: 5 * hour }), 0).map((millis) => millis ?? 0),
    diesAfter: rarely(fc.integer({ min: 0, max: 5 }), undefined),
  }),
  { minLength: 1, maxLength: 12 },
)

interface Automation {
  readonly schedule: Schedule
  readonly from: Date
  readonly missed: MissedOccurrences
  readonly jitterSeconds: number
}

interface History {
  /** Nominal instants in the order in which their firings first came to be. */
  readonly fired: number[]
  readonly skipped: { readonly first: Date; readonly last: Date }[]
  readonly watermark: Date | undefined
  readonly now: Date
}

/** What managers do: create firings by name, then record the watermark. Death in between loses the record. */
function play({ schedule, from, missed, jitterSeconds }: Automation, steps: readonly Look[]): History {
  const fired: number[] = []
  const skipped: { first: Date; last: Date }[] = []
  let watermark: Date | undefined
  let now = from
  for (const { passed, setBack, diesAfter } of steps) {
    now = new Date(now.getTime() + passed - setBack)
    const state = { schedule, watermark, baseline: { createdAt: from }, missed, jitterSeconds, identity: 'uid', now }
    const decision = dueOccurrences(state)
    for (const { occurrence } of decision.fire.slice(0, diesAfter)) {
      expect(watermark === undefined || occurrence > watermark).toBe(true)
      if (!fired.includes(occurrence.getTime())) fired.push(occurrence.getTime())
    }
    if (diesAfter !== undefined) continue
    skipped.push(...decision.skipped)
    watermark = decision.watermark
  }
  return { fired, skipped, watermark, now }
}

describe('between any two instants each due occurrence once, in order, none invented', () => {
  it('[A-007] however often the clock is looked at or set back, and the manager dies before it writes', () => {
    fc.assert(
      fc.property(expressions, nearNight, looks, jitters, (expression, { timezone, from }, steps, jitterSeconds) => {
        const schedule = scheduleOf(expression, timezone)
        const caughtUp = 12 * hour + steps.reduce((sum, { setBack }) => sum + setBack, 0)
        const end = from.getTime() + caughtUp + steps.reduce((sum, { passed }) => sum + passed, 0)
        fc.pre(countOccurrences(schedule, from, new Date(end)) <= 100)
        const automation: Automation = { schedule, from, missed: { policy: 'All' }, jitterSeconds }
        const { fired, skipped, now } = play(automation, [
          ...steps,
          { passed: caughtUp, setBack: 0, diesAfter: undefined },
        ])
        const expected = oracleOccurrences(expression, timezone, from, now).filter(
          (at) => startOf(schedule, new Date(at), jitterSeconds, 'uid') <= now,
        )
        expect(iso(fired)).toEqual(iso(expected))
        expect(skipped).toEqual([])
      }),
      { numRuns: 100 },
    )
  })

  it('under every policy nothing is lost without a reason, and nothing invented', () => {
    fc.assert(
      fc.property(
        expressions,
        nearNight,
        looks,
        policies,
        jitters,
        (expression, { timezone, from }, steps, missed, jitterSeconds) => {
          const schedule = scheduleOf(expression, timezone)
          const { fired, skipped, watermark } = play({ schedule, from, missed, jitterSeconds }, steps)
          for (const at of fired) expect(nextOccurrence(schedule, new Date(at - 1))?.getTime()).toBe(at)
          const end = Math.min((watermark ?? from).getTime(), from.getTime() + 48 * hour)
          const lost = oracleOccurrences(expression, timezone, from, new Date(end)).filter(
            (at) =>
              !fired.includes(at) && !skipped.some(({ first, last }) => first.getTime() <= at && at <= last.getTime()),
          )
          expect(iso(lost)).toEqual([])
        },
      ),
      { numRuns: 100 },
    )
  })
})
