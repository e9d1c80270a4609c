import { describe, expect, it } from 'vitest'
import type { Pause } from '../../../../src/api/pause.ts'
import { gateOf, letThrough } from '../../../../src/reconcilers/automation/gate.ts'
import { aFiring, anAutomation } from '../../../kit/builders.ts'

const now = new Date('2026-11-30T13:00:00.000Z')
const runtime: Pause = {
  reason: 'CommandFailed',
  message: '',
  class: 'Runtime',
  since: '2026-11-30T12:00:00.000Z',
  streak: 3,
  firing: 'nightly-3',
}
const transient: Pause = { ...runtime, class: 'Transient', nextProbe: '2026-11-30T12:15:00.000Z' }
const later: Pause = { ...transient, nextProbe: '2026-11-30T13:15:00.000Z' }
const failed = { check: 'agent', state: 'Failed', message: '' } as const
const unknown = { check: 'agent', state: 'Unknown', message: '' } as const

describe('the gate', () => {
  it.each([
    ['nothing is in the way', {}, [], undefined, 'open'],
    ['[A-167] it is paused by hand', { paused: true }, [], undefined, 'closed'],
    ['[N-199] it is paused by hand as well', { paused: true }, [], transient, 'closed'],
    ['a check failed', {}, [failed], undefined, 'closed'],
    ['[A-151] a check could not be made', {}, [unknown], undefined, 'closed'],
    ['a check failed, and it paused itself', {}, [failed], runtime, 'closed'],
    ['[N-159] it paused itself', {}, [], runtime, 'byHand'],
    ['[N-154] it paused itself for a cause that may pass', {}, [], transient, 'probing'],
  ] as const)('where %s', (_, spec, readiness, pause, expected) => {
    expect(gateOf(anAutomation({ spec }), readiness, pause, [], now).kind).toBe(expected)
  })

  it('[N-154] is due from the time of the probe on, and busy while one is under way', () => {
    const firing = aFiring({ name: 'nightly-4', spec: { trigger: 'schedule' } })
    const active = [{ name: 'nightly-4', uid: 'uid-of-nightly-4' }]
    const automation = anAutomation({ status: { active } })
    expect(gateOf(automation, [], later, [], now)).toMatchObject({ isDue: false })
    expect(gateOf(automation, [], transient, [firing], now)).toMatchObject({ isDue: true, isBusy: true })
    const byHand = aFiring({ name: 'nightly-4' })
    expect(gateOf(automation, [], transient, [byHand], now)).toMatchObject({ isBusy: false })
    const over = aFiring({ ...firing, name: 'nightly-4', spec: firing.spec, status: { phase: 'Failed' } })
    expect(gateOf(automation, [], transient, [over], now)).toMatchObject({ isBusy: false })
  })
})

describe('who gets through', () => {
  const one = (name: string) => ({ name, uid: name })
  const queue = {
    pending: [one('a'), { ...one('b'), decision: 'Superseded' as const }],
    arrived: [one('hand'), one('c')],
  }
  const through = (gate: Parameters<typeof letThrough>[0]) => {
    const { passed, held } = letThrough(gate, queue, (uid) => uid === 'hand')
    const parted = [...passed.pending, ...held.pending, ...passed.arrived, ...held.arrived]
    expect(parted.map(({ name }) => name).sort()).toEqual(['a', 'b', 'c', 'hand'])
    return [...passed.pending, ...passed.arrived].map(({ name }) => name)
  }
  const probing = { kind: 'probing', probeAt: now, isDue: true, isBusy: false } as const

  it.each([
    ['all', { kind: 'open' } as const, ['a', 'b', 'hand', 'c']],
    ['those of people, and those that are to be skipped', { kind: 'byHand' } as const, ['b', 'hand']],
    ['none but those that are to be skipped', { kind: 'closed' } as const, ['b']],
    ['[N-154] exactly one beside those of people', probing, ['a', 'b', 'hand']],
    ['[N-154] none beside those while one is under way', { ...probing, isBusy: true }, ['b', 'hand']],
    ['[N-154] none beside those before the time has come', { ...probing, isDue: false }, ['b', 'hand']],
  ])('%s', (_, gate, expected) => {
    expect(through(gate)).toEqual(expected)
  })
})
