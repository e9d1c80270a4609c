import { describe, expect, it } from 'vitest'
import {
  concernsDate,
  consumeDate,
  dateProblem,
  describePending,
  dueOnce,
  noPendingOccurrence,
  type OnceReceipt,
  type OnceState,
  observeDate,
} from '../../../src/schedule/once.ts'

const date = '2026-12-01T17:00:00.000Z'
const later = '2026-12-24T17:00:00.000Z'
const created = new Date('2026-11-01T00:00:00Z')
const afterwards = new Date('2026-12-05T00:00:00Z')

function observed(at: string, chosenAt: Date, state?: OnceState): OnceState {
  const next = observeDate(state, at, chosenAt)
  if (next === undefined) throw new Error(`${at} is no date`)
  return next
}

function receipt(options: Partial<OnceReceipt> = {}): OnceReceipt {
  return { occurrence: date, firing: 'a-firing', target: 'agent', sessionLaunched: true, settled: false, ...options }
}

const pending = observed(date, created)
const consumed = consumeDate(pending, receipt())

describe('choosing a date', () => {
  it('[A-206] a new Automation needs a date in the future of its creation', () => {
    expect(pending).toEqual({ at: date, phase: 'Pending' })
    expect(observed(date, new Date(date)).phase).toBe('NotFuture')
    expect(observed(date, afterwards).phase).toBe('NotFuture')
  })

  it('[A-207] another date needs to be in the future when it is chosen', () => {
    expect(observed(later, afterwards, pending)).toEqual({ at: later, phase: 'Pending' })
    expect(observed('2026-12-04T00:00:00Z', afterwards, pending).phase).toBe('NotFuture')
  })

  it('[A-195] [A-202] [A-201] the date is kept in UTC, in whatever offset it was written', () => {
    expect(observed('2026-12-01T12:00:00-05:00', created).at).toBe(date)
  })

  it('[A-131] a date that has passed and was not changed is not asked again', () => {
    expect(observeDate(pending, date, afterwards)).toBe(pending)
    expect(dateProblem(pending)).toBeUndefined()
  })

  it('[A-236] the same instant in another offset is the same date', () => {
    expect(observeDate(pending, '2026-12-01T18:00:00+01:00', afterwards)).toBe(pending)
    expect(observeDate(consumed, '2026-12-01T18:00:00+01:00', created)).toBe(consumed)
  })

  it('[A-217] only a different date in the future makes a new occurrence of one that is consumed', () => {
    expect(observeDate(consumed, date, created)).toBe(consumed)
    expect(observed(later, afterwards, consumed).phase).toBe('Pending')
    expect(observed('2026-12-02T00:00:00Z', afterwards, consumed).phase).toBe('NotFuture')
  })

  it('[A-217] a consumed date does not come back by way of another, not even where a clock was set back', () => {
    const other = observed(later, afterwards, consumed)
    expect(observed(date, created, other).phase).toBe('NotFuture')
  })

  it('a date that was refused and one that is pending change places', () => {
    const refused = observed('2026-11-20T00:00:00Z', new Date('2026-11-25T00:00:00Z'), pending)
    expect(dueOnce(refused, afterwards, false)).toBeUndefined()
    expect(observed(date, new Date('2026-11-26T00:00:00Z'), refused).phase).toBe('Pending')
  })

  it('a text that is no date leaves nothing pending', () => {
    expect(observeDate(pending, 'tomorrow', created)).toBeUndefined()
  })

  it('a date that had passed is a readiness entry that says what to do', () => {
    expect(dateProblem(observed(date, afterwards))).toMatch(/2026-12-01T17:00:00.000Z.*choose a date in the future/)
    expect(dateProblem(consumed)).toBeUndefined()
    expect(dateProblem(undefined)).toBeUndefined()
  })
})

describe('when it is due', () => {
  it('[A-223] never before the date', () => {
    expect(dueOnce(pending, new Date(Date.parse(date) - 1), false)).toBeUndefined()
    expect(dueOnce(pending, new Date(date), false)).toBeDefined()
  })

  it('[A-200] at the date itself, without jitter', () => {
    expect(dueOnce(pending, new Date(date), false)).toEqual({ occurrence: new Date(date), startAt: new Date(date) })
  })

  it('[A-208] [A-209] [A-227] a pause holds it, and after the pause it is the same occurrence', () => {
    expect(dueOnce(pending, afterwards, true)).toBeUndefined()
    expect(dueOnce(observed(date, afterwards, pending), afterwards, false)?.occurrence).toEqual(new Date(date))
  })

  it('[A-224] a scheduler that was down when it was created and due makes up for it', () => {
    expect(dueOnce(observed(date, created), afterwards, false)?.occurrence).toEqual(new Date(date))
  })

  it('[A-221] it stays due under the same identity until it is consumed', () => {
    expect(dueOnce(pending, afterwards, false)).toEqual(dueOnce(pending, new Date(date), false))
    expect(dueOnce(consumed, afterwards, false)).toBeUndefined()
  })

  it('[A-225] where nothing is recorded nothing is due', () => {
    expect(dueOnce(undefined, afterwards, false)).toBeUndefined()
  })
})

describe('what consumes it', () => {
  it('[A-210] an agent: the launch of its Session, not the firing and not the end', () => {
    expect(consumeDate(pending, receipt({ sessionLaunched: false }))).toBe(pending)
    expect(consumeDate(pending, receipt()).phase).toBe('Consumed')
  })

  it('[A-211] a program: its end, not a Session of one of its steps', () => {
    expect(consumeDate(pending, receipt({ target: 'program' }))).toBe(pending)
    expect(consumeDate(pending, receipt({ target: 'program', settled: true })).phase).toBe('Consumed')
  })

  it('[A-212] an admission that failed for good', () => {
    expect(consumeDate(pending, receipt({ sessionLaunched: false, settled: true })).phase).toBe('Consumed')
  })

  it('[A-213] [A-215] paused or not; and resuming makes nothing new', () => {
    expect(dueOnce(consumeDate(pending, receipt()), afterwards, true)).toBeUndefined()
    expect(dueOnce(observed(date, afterwards, consumed), afterwards, false)).toBeUndefined()
  })

  it('[A-214] the end of the launched Session changes nothing more', () => {
    expect(consumeDate(consumed, receipt({ settled: true }))).toBe(consumed)
  })

  it('[A-216] neither names, nor the order of triggers, nor a pause are part of the state', () => {
    expect(observeDate(consumed, date, afterwards)).toBe(consumed)
  })

  it('[A-218] the end of an older firing leaves a date that was chosen since', () => {
    const chosen = observed(later, afterwards, pending)
    expect(consumeDate(chosen, receipt({ settled: true }))).toBe(chosen)
  })

  it('[A-219] the failure of an older firing does not speak for a date that was chosen since', () => {
    expect(concernsDate(pending, date)).toBe(true)
    expect(concernsDate(pending, '2026-12-01T18:00:00+01:00')).toBe(true)
    expect(concernsDate(observed(later, afterwards, pending), date)).toBe(false)
  })

  it('[A-232] the firing that has the occurrence can be found until it is another', () => {
    expect(consumed.consumed).toEqual({ at: date, firing: 'a-firing' })
    const next = observed(later, afterwards, consumed)
    expect(next.consumed).toEqual({ at: date, firing: 'a-firing' })
    expect(consumeDate(next, receipt({ occurrence: later, firing: 'another' })).consumed).toEqual({
      at: later,
      firing: 'another',
    })
  })
})

describe('[A-204] [A-235] what is shown', () => {
  it('nothing pending, a pending date and one that a pause holds are three things', () => {
    expect(noPendingOccurrence).toBe('no pending occurrence')
    expect(describePending(undefined, false)).toBe('no pending occurrence')
    expect(describePending(consumed, false)).toBe('no pending occurrence')
    expect(describePending(observed(date, afterwards), false)).toBe('no pending occurrence')
    expect(describePending(pending, false)).toBe(date)
    expect(describePending(pending, true)).toBe(`${date} (paused)`)
  })
})
