import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AutomationGraphPlan, PlanContent, PlanPhase } from '../../../../src/api/automation-graph-plan.ts'
import { deepFreeze } from '../../../../src/lib/readonly.ts'
import { choosePlan, lastApplied, sequenceOf } from '../../../../src/reconcilers/automation-graph/plan-choice.ts'

const content = (digest: string, environment = 'dev'): PlanContent => ({
  graph: 'triage',
  graphUID: 'uid-graph',
  revision: 1,
  document: {},
  automation: { environment },
  dispositions: [{ kind: 'Automation', name: 'triage', action: 'Update' }],
  pins: [],
  blockers: [],
  requiredInputs: [],
  digest: `sha256:${digest.repeat(64)}`,
})

function plan(sequence: number, phase: PlanPhase | undefined, planned: PlanContent): AutomationGraphPlan {
  return {
    apiVersion: 'graphwright.dev/v1alpha1',
    kind: 'AutomationGraphPlan',
    metadata: { name: `triage-${sequence}`, namespace: 'team', uid: `uid-${sequence}` },
    spec: { content: planned },
    ...(phase !== undefined && { status: { phase } }),
  }
}

const input = (plans: AutomationGraphPlan[], wanted: PlanContent, rest = {}) =>
  deepFreeze({
    graph: 'triage',
    sequence: 0,
    plans,
    content: wanted,
    automationExists: true,
    isTaken: () => false,
    ...rest,
  })

describe('choosing the current plan of a graph', () => {
  it('[A-032] the first plan has number 1', () => {
    expect(choosePlan(input([], content('a')))).toEqual({ name: 'triage-1', sequence: 1 })
  })

  it('a plan that waits for review stays while the world stays', () => {
    const waiting = plan(1, 'Pending', content('a'))
    expect(choosePlan(input([waiting], content('a'))).plan).toEqual(waiting)
  })

  it('a plan that was not looked at yet stays too', () => {
    const fresh = plan(1, undefined, content('a'))
    expect(choosePlan(input([fresh], content('a'))).plan).toEqual(fresh)
  })

  it('[A-032] another world is another plan', () => {
    expect(choosePlan(input([plan(1, 'Pending', content('a'))], content('b')))).toEqual({
      name: 'triage-2',
      sequence: 2,
    })
  })

  it('a plan that is being applied stays while what it asks for appears', () => {
    const applying = plan(1, 'Applying', content('a'))
    const done = {
      ...content('b'),
      dispositions: [{ kind: 'Automation', name: 'triage', action: 'Unchanged' as const }],
    }
    expect(choosePlan(input([applying], done)).plan).toEqual(applying)
    expect(choosePlan(input([applying], { ...done, automation: { environment: 'prod' } })).name).toBe('triage-2')
  })

  it('what is applied stays current while the document asks for it, whatever the digest has become', () => {
    const applied = plan(1, 'Applied', content('a'))
    expect(choosePlan(input([applied], content('b'))).plan).toEqual(applied)
  })

  it('a document that goes back to what is applied needs no plan', () => {
    const applied = plan(1, 'Applied', content('a'))
    const pending = plan(2, 'Pending', content('b', 'prod'))
    expect(choosePlan(input([applied, pending], content('c'))).plan).toEqual(applied)
  })

  it('an Automation that was deleted needs a plan', () => {
    const applied = plan(1, 'Applied', content('a'))
    expect(choosePlan(input([applied], content('b'), { automationExists: false }))).toEqual({
      name: 'triage-2',
      sequence: 2,
    })
  })

  it('a stale plan of the same world is not taken up again: the same world later is a new plan', () => {
    expect(choosePlan(input([plan(1, 'Stale', content('a'))], content('a'))).name).toBe('triage-2')
  })

  it('a failed plan is not made again for the same world', () => {
    const failed = plan(1, 'Failed', content('a'))
    expect(choosePlan(input([failed], content('a'))).plan).toEqual(failed)
  })

  it('numbers that the status or another object has used are never used again', () => {
    const taken = (name: string) => name === 'triage-8'
    expect(choosePlan(input([], content('a'), { sequence: 7, isTaken: taken })).name).toBe('triage-9')
  })

  it('the order of the plans does not matter, and a new number is above all others', () => {
    const phases = fc.constantFrom<PlanPhase>('Blocked', 'Pending', 'Applied', 'Stale', 'Failed')
    const plans = fc
      .uniqueArray(fc.tuple(fc.integer({ min: 1, max: 40 }), phases, fc.constantFrom('a', 'b', 'c')), {
        selector: ([sequence]) => sequence,
      })
      .map((rows) => rows.map(([sequence, phase, digest]) => plan(sequence, phase, content(digest, digest))))
    fc.assert(
      fc.property(plans, fc.constantFrom('a', 'b', 'd'), (existing, digest) => {
        const wanted = content(digest, digest)
        const choice = choosePlan(input(existing, wanted))
        expect(choosePlan(input([...existing].reverse(), wanted))).toEqual(choice)
        if (choice.plan === undefined) {
          const numbers = existing.map((one) => sequenceOf(one))
          expect(choice.sequence).toBe(Math.max(0, ...numbers) + 1)
        }
      }),
    )
  })
})

describe('the plan that is applied', () => {
  it('is the applied one with the highest number, and 10 is above 9', () => {
    const plans = [plan(9, 'Applied', content('a')), plan(10, 'Applied', content('b')), plan(11, 'Stale', content('c'))]
    expect(lastApplied(deepFreeze(plans))?.metadata.name).toBe('triage-10')
  })
})
