import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { maxActiveFirings } from '../../../src/api/automation.ts'
import type { AutomationFiring, FiringPhase } from '../../../src/api/automation-firing.ts'
import { deepFreeze } from '../../../src/lib/readonly.ts'
import { activeFirings } from '../../../src/reconcilers/automation.ts'

function firing(number: number, phase?: FiringPhase, deleted = false): AutomationFiring {
  return {
    apiVersion: 'graphwright.dev/v1alpha1',
    kind: 'AutomationFiring',
    metadata: {
      name: `nightly-${number}`,
      namespace: 'team',
      uid: `uid-${number}`,
      creationTimestamp: new Date(Date.UTC(2026, 10, 30, 12, 0, number)).toISOString(),
      ...(deleted && { deletionTimestamp: '2026-11-30T13:00:00Z' }),
    },
    spec: { automation: { name: 'nightly' }, trigger: 'manual', requestedBy: 'jane' },
    ...(phase !== undefined && { status: { phase } }),
  }
}

const reference = (number: number) => ({ name: `nightly-${number}`, uid: `uid-${number}` })

describe('starting firings of an Automation', () => {
  it('[A-004] starts every firing that waits, the oldest first', () => {
    const firings = deepFreeze([firing(2), firing(1)])
    expect(activeFirings([], firings, true)).toEqual([reference(1), reference(2)])
  })

  it('[A-167] starts none while the Automation is paused or not ready', () => {
    expect(activeFirings([], deepFreeze([firing(1)]), false)).toEqual([])
  })

  it('[A-170] keeps what runs when the Automation is paused', () => {
    expect(activeFirings([reference(1)], deepFreeze([firing(1, 'Running')]), false)).toEqual([reference(1)])
  })

  it('lets go of a firing that settled or is gone', () => {
    const firings = deepFreeze([firing(1, 'Succeeded'), firing(3, 'Running')])
    expect(activeFirings([reference(1), reference(2), reference(3)], firings, true)).toEqual([reference(3)])
  })

  it('does not start a firing that is being deleted', () => {
    expect(activeFirings([], deepFreeze([firing(1, undefined, true)]), true)).toEqual([])
  })

  it('does not take another firing of the same name for the one that was started', () => {
    expect(activeFirings([{ name: 'nightly-1', uid: 'uid-of-before' }], deepFreeze([firing(1)]), true)).toEqual([
      reference(1),
    ])
  })

  it('never starts more than a hundred, never drops one that runs, and never lists one twice', () => {
    const phases = fc.constantFrom<FiringPhase | undefined>(undefined, 'Pending', 'Running', 'Succeeded', 'Failed')
    fc.assert(
      fc.property(fc.array(phases, { maxLength: 130 }), fc.array(fc.nat(129)), (states, started) => {
        const firings = states.map((phase, number) => firing(number, phase))
        const recorded = [...new Set(started)].map(reference)
        const active = activeFirings(recorded, deepFreeze(firings), true)
        const running = recorded.filter(({ uid }) =>
          firings.some((one) => one.metadata.uid === uid && !['Succeeded', 'Failed'].includes(one.status?.phase ?? '')),
        )
        expect(new Set(active.map(({ uid }) => uid)).size).toBe(active.length)
        expect(active.slice(0, running.length)).toEqual(running)
        expect(active.length).toBeLessThanOrEqual(Math.max(maxActiveFirings, running.length))
      }),
    )
  })
})
