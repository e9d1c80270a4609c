import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { maxActiveFirings as maxActive, type PendingFiring } from '../../../../src/api/automation.ts'
import { deepFreeze } from '../../../../src/lib/readonly.ts'
import { type StartInput, startFirings } from '../../../../src/reconcilers/automation/starting.ts'

const one = (number: number) => ({ name: `nightly-${number}`, uid: `uid-${number}` })
const many = (count: number, from = 1) => Array.from({ length: count }, (_, index) => one(from + index))
const decided = (number: number, decision: NonNullable<PendingFiring['decision']>) => ({ ...one(number), decision })

function start(input: Partial<StartInput>) {
  return startFirings(deepFreeze({ policy: 'Allow', active: [], pending: [], arrived: [], ...input }) as StartInput)
}

describe('concurrencyPolicy Allow', () => {
  it('[A-004] starts all that wait, those that waited longer first', () => {
    const answer = start({ active: [one(1)], pending: [one(2)], arrived: [one(3)] })
    expect(answer).toEqual({ active: [one(1), one(2), one(3)], pending: [], cancel: [] })
  })

  it('lets the hundred-and-first wait, and starts it when there is room', () => {
    const full = start({ active: many(maxActive), arrived: [one(500)] })
    expect(full.pending).toEqual([one(500)])
    expect(start({ active: many(maxActive - 1), pending: full.pending }).active).toContainEqual(one(500))
  })
})

describe('concurrencyPolicy Forbid', () => {
  it('starts one where none is under way, and forbids the others', () => {
    const answer = start({ policy: 'Forbid', arrived: [one(1), one(2)] })
    expect(answer).toEqual({ active: [one(1)], pending: [decided(2, 'ConcurrencyForbidden')], cancel: [] })
  })

  it('forbids all while one is under way', () => {
    const answer = start({ policy: 'Forbid', active: [one(1)], arrived: [one(2)] })
    expect(answer).toEqual({ active: [one(1)], pending: [decided(2, 'ConcurrencyForbidden')], cancel: [] })
  })

  it('what was forbidden is not started later', () => {
    const answer = start({ policy: 'Forbid', pending: [decided(2, 'ConcurrencyForbidden')] })
    expect(answer.active).toEqual([])
  })
})

describe('concurrencyPolicy Replace', () => {
  it('has what is under way cancelled first, and starts when it has settled', () => {
    const asked = start({ policy: 'Replace', active: [one(1)], arrived: [one(2)] })
    expect(asked).toEqual({ active: [one(1)], pending: [one(2)], cancel: [one(1)] })
    const started = start({ policy: 'Replace', pending: asked.pending })
    expect(started).toEqual({ active: [one(2)], pending: [], cancel: [] })
  })

  it('of several that wait the newest counts', () => {
    const answer = start({ policy: 'Replace', active: [one(1)], pending: [one(2)], arrived: [one(3)] })
    expect(answer.pending).toEqual([decided(2, 'Superseded'), one(3)])
  })
})

describe('every policy', () => {
  const policies = fc.constantFrom<StartInput['policy']>('Allow', 'Forbid', 'Replace')
  const counts = fc.tuple(policies, fc.nat(120), fc.nat(20), fc.nat(20))

  it('never loses a firing, never lists one twice, and never stops one that runs by itself', () => {
    fc.assert(
      fc.property(counts, ([policy, active, pending, arrived]) => {
        const input = { policy, active: many(active), pending: many(pending, 1000), arrived: many(arrived, 2000) }
        const answer = start(input)
        const listed = [...answer.active, ...answer.pending].map(({ uid }) => uid)
        expect(new Set(listed).size).toBe(listed.length)
        expect(listed.sort()).toEqual(
          [...input.active, ...input.pending, ...input.arrived].map(({ uid }) => uid).sort(),
        )
        expect(answer.active.slice(0, active)).toEqual(input.active)
      }),
    )
  })

  it('asked again without news, it changes nothing', () => {
    fc.assert(
      fc.property(counts, ([policy, active, pending, arrived]) => {
        const answer = start({
          policy,
          active: many(active),
          pending: many(pending, 1000),
          arrived: many(arrived, 2000),
        })
        const again = start({ policy, active: answer.active, pending: answer.pending })
        expect(again).toEqual(answer)
      }),
    )
  })
})
