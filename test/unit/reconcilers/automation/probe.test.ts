import { describe, expect, it } from 'vitest'
import type { AutomationSpec, ScheduleStatus } from '../../../../src/api/automation.ts'
import type { AutomationFiring } from '../../../../src/api/automation-firing.ts'
import { deepFreeze } from '../../../../src/lib/readonly.ts'
import { decideProbe, type ProbeInput } from '../../../../src/reconcilers/automation/probe.ts'
import { decideSchedule, type ScheduleDecision } from '../../../../src/reconcilers/automation/schedule.ts'
import { aFiring, anAutomation } from '../../../kit/builders.ts'

const at = (time: string) => `2026-11-30T${time}:00.000Z`
const trigger = { id: 'tick', kind: 'schedule' as const, cron: '*/10 * * * *', timezone: 'UTC' }

interface Given extends Partial<Omit<ProbeInput, 'now' | 'firings' | 'automation' | 'probeAt'>> {
  readonly now: string
  readonly probeAt: string
  readonly firings?: readonly AutomationFiring[]
  readonly watermark?: string
  readonly resumedAt?: string
  readonly spec?: Partial<AutomationSpec>
}

/** Paused at 12:31, after the firing of 12:30. */
function input({ now, probeAt, firings = [], watermark = '12:30', resumedAt, spec, ...given }: Given): ProbeInput {
  const { digest } = decideSchedule({
    automation: anAutomation({ spec: { triggers: [trigger] } }),
    state: 'Paused',
    firings: [],
    isCrowded: false,
    specChangedAt: undefined,
    requester: 'manager',
    now: new Date(at('12:31')),
  }).status as ScheduleStatus
  const schedule: ScheduleStatus = {
    digest,
    changedAt: at('12:00'),
    watermark: at(watermark),
    ...(resumedAt !== undefined && { resumedAt: at(resumedAt) }),
  }
  const automation = anAutomation({ spec: { triggers: [trigger], ...spec }, status: { state: 'Paused', schedule } })
  return {
    automation,
    isCrowded: false,
    state: 'Paused',
    firings,
    specChangedAt: undefined,
    requester: 'manager',
    isBusy: false,
    ...given,
    now: new Date(at(now)),
    probeAt: new Date(at(probeAt)),
  }
}

const decide = (given: Given) => decideProbe(deepFreeze(input(given)) as ProbeInput)
const occurrences = (given: Given) => occurrencesOf(decide(given))

function occurrencesOf({ create }: ScheduleDecision): unknown[] {
  return create.map((firing) => (firing as AutomationFiring).spec.occurrence)
}

function made(occurrence: string, phase?: 'Failed' | 'Skipped'): AutomationFiring {
  const given = { now: occurrence, probeAt: occurrence, watermark: '12:00' }
  const [wanted] = decide(given).create
  const { name } = wanted?.metadata ?? { name: '' }
  const spec = { trigger: 'schedule' as const, occurrence: at(occurrence) }
  return aFiring({ name, spec, ...(phase !== undefined && { status: { phase } }) })
}

describe('a probe', () => {
  it('[N-154] is the first occurrence from its time on', () => {
    expect(occurrences({ now: '12:40', probeAt: '12:45' })).toEqual([])
    expect(occurrences({ now: '12:45', probeAt: '12:45' })).toEqual([])
    expect(occurrences({ now: '12:50', probeAt: '12:45' })).toEqual([at('12:50')])
    expect(occurrences({ now: '12:50', probeAt: '12:50' })).toEqual([at('12:50')])
  })

  it('wakes in time, and shows when it is', () => {
    const { status, after } = decide({ now: '12:40', probeAt: '12:45' })
    expect(status?.next).toBe(at('12:50'))
    expect(after).toBe(10 * 60_000)
    expect(status?.watermark).toBe(at('12:30'))
  })

  it('[N-154] is one, whatever is to be made up for', () => {
    const spec = { missedOccurrences: { policy: 'All' as const } }
    expect(occurrences({ now: '14:05', probeAt: '12:45', spec })).toEqual([at('14:00')])
  })

  it('[N-154] is not made while one is under way', () => {
    const decision = decide({ now: '14:05', probeAt: '12:45', isBusy: true })
    expect(decision).toMatchObject({ create: [], covered: [], after: undefined })
    expect(decision.status?.watermark).toBe(at('12:30'))
  })

  it('is recorded once it exists, with what was slept through before it', () => {
    const probe = made('12:50')
    const { create, covered, status } = decide({ now: '12:50', probeAt: '12:45', firings: [probe] })
    expect(create).toEqual([])
    expect(covered).toEqual([probe])
    expect(status).toMatchObject({
      watermark: at('12:50'),
      skipped: [{ reason: 'Paused', count: 1, first: at('12:40'), last: at('12:40') }],
    })
  })

  it('is a firing that was made before the pause, where there is one: but not before its time', () => {
    const early = made('12:40')
    const before = decide({ now: '12:44', probeAt: '12:45', firings: [early] })
    expect(before).toMatchObject({ create: [], covered: [], after: 60_000 })
    const due = decide({ now: '12:55', probeAt: '12:45', firings: [early] })
    expect(due.covered).toEqual([early])
    expect(due.status).toMatchObject({ watermark: at('12:40') })
    expect(due.status?.skipped).toBeUndefined()
  })

  it('keeps policy None, and counts what was late', () => {
    const spec = { missedOccurrences: { policy: 'None' as const } }
    const decision = decide({ now: '13:05', probeAt: '12:45', spec })
    expect(decision.create).toEqual([])
    expect(decision.status?.skipped).toEqual([
      { reason: 'Paused', count: 1, first: at('12:40'), last: at('12:40') },
      { reason: 'MissedPolicyNone', count: 2, first: at('12:50'), last: at('13:00') },
    ])
  })

  it('[N-154] [A-208] is a date where that is all there is, once both times have come, and never twice', () => {
    const triggers = [{ id: 'once', kind: 'schedule_once' as const, at: at('12:50') }]
    const spec = { triggers }
    expect(decide({ now: '12:47', probeAt: '12:45', spec })).toMatchObject({ create: [], after: 3 * 60_000 })
    expect(occurrences({ now: '12:55', probeAt: '13:00', spec })).toEqual([])
    expect(occurrences({ now: '12:55', probeAt: '12:45', isBusy: true, spec })).toEqual([])
    const [probe] = decide({ now: '13:00', probeAt: '12:45', spec }).create
    expect((probe as AutomationFiring).spec.occurrence).toBe(at('12:50'))
    const name = probe?.metadata.name ?? ''
    const wanted = { name, spec: { trigger: 'schedule' as const, occurrence: at('12:50') } }
    const begun = decide({ now: '13:00', probeAt: '12:45', spec, firings: [aFiring(wanted)] })
    expect(begun).toMatchObject({ create: [], covered: [{ metadata: { name } }] })
    const ended = aFiring({ ...wanted, status: { phase: 'Failed' } })
    const after = decide({ now: '14:00', probeAt: '13:30', spec, firings: [ended] })
    expect(after).toMatchObject({ create: [], covered: [], status: { once: { phase: 'Consumed' } } })
  })
})

describe('the end of a pause', () => {
  it('nothing is due up to it, and what was slept through is counted', () => {
    const given = input({ now: '13:05', probeAt: '12:45', watermark: '12:50' })
    const decision = decideSchedule({ ...given, state: 'Active', liftedAt: new Date(at('13:01')) })
    expect(decision.create).toEqual([])
    expect(decision.status).toMatchObject({
      resumedAt: at('13:01'),
      next: at('13:10'),
      skipped: [{ reason: 'Paused', count: 1, first: at('13:00'), last: at('13:00') }],
    })
  })

  it('what was due since then starts, though nobody looked at once', () => {
    const given = input({ now: '13:21', probeAt: '12:45', watermark: '12:50' })
    const decision = decideSchedule({ ...given, state: 'Active', liftedAt: new Date(at('13:01')) })
    expect(occurrencesOf(decision)).toEqual([at('13:20')])
  })
})
