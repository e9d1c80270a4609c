import { describe, expect, it } from 'vitest'
import type { ScheduleStatus } from '../../../../src/api/automation.ts'
import type { AutomationFiring } from '../../../../src/api/automation-firing.ts'
import { censusOf } from '../../../../src/reconcilers/automation/census.ts'
import { decideSchedule, type ScheduleDecision } from '../../../../src/reconcilers/automation/schedule.ts'
import { Metrics } from '../../../../src/runtime/metrics.ts'
import { aFiring, anAutomation } from '../../../kit/builders.ts'

const at = (time: string) => `2026-11-30T${time}:00.000Z`
const trigger = { id: 'tick', kind: 'schedule' as const, cron: '*/10 * * * *', timezone: 'UTC' }

/** What is decided at an instant, of a schedule whose occurrences up to 12:30 are decided. */
function decide(now: string, firings: readonly AutomationFiring[] = []): ScheduleDecision {
  const input = { firings, isCrowded: false, specChangedAt: undefined, requester: 'manager', state: 'Active' as const }
  const spec = { triggers: [trigger], missedOccurrences: { policy: 'All' as const, deadlineSeconds: 900 } }
  const fresh = anAutomation({ spec })
  const { digest } = decideSchedule({ ...input, automation: fresh, now: new Date(at('12:00')) })
    .status as ScheduleStatus
  const schedule = { digest, changedAt: at('12:00'), watermark: at('12:30') }
  const automation = anAutomation({ spec, status: { state: 'Active', schedule } })
  return decideSchedule({ ...input, automation, now: new Date(now) })
}

function made({ create }: ScheduleDecision): AutomationFiring[] {
  return create.map((firing) => aFiring({ name: firing.metadata.name, spec: (firing as AutomationFiring).spec }))
}

describe('what the metrics are told of a schedule', () => {
  it('each firing is counted when it is made, with how late that is', () => {
    const { create, counts } = decide('2026-11-30T12:50:02.500Z')
    expect(create).toHaveLength(2)
    expect(counts).toEqual([
      { metric: 'occurrenceStarted', delaySeconds: 602.5 },
      { metric: 'occurrenceStarted', delaySeconds: 2.5 },
    ])
  })

  it('what is too late is counted when that is recorded, by its reason, and once', () => {
    const making = decide('2026-11-30T13:00:00.000Z')
    expect(making.counts.map(({ metric }) => metric)).toEqual(['occurrenceStarted', 'occurrenceStarted'])
    const recording = decide('2026-11-30T13:00:00.000Z', made(making))
    expect(recording.status?.skipped).toMatchObject([{ reason: 'DeadlineExceeded', count: 1 }])
    expect(recording.counts).toEqual([
      { metric: 'occurrencesSkipped', labels: { reason: 'DeadlineExceeded' }, times: 1 },
    ])
  })

  it('nothing is counted while nothing is due', () => {
    expect(decide('2026-11-30T12:35:00.000Z')).toMatchObject({ create: [], counts: [] })
  })

  it('shows as a counter that is there before the first, and as a histogram', async () => {
    const metrics = new Metrics()
    expect(await metrics.registry.metrics()).toContain(
      'graphwright_occurrences_skipped_total{reason="DeadlineExceeded"} 0',
    )
    metrics.count({ metric: 'occurrencesSkipped', labels: { reason: 'DeadlineExceeded' }, times: 3 })
    metrics.count({ metric: 'occurrenceStarted', delaySeconds: 70 })
    const text = await metrics.registry.metrics()
    expect(text).toContain('graphwright_occurrences_skipped_total{reason="DeadlineExceeded"} 3')
    expect(text).toContain('graphwright_occurrence_start_delay_seconds_bucket{le="60"} 0')
    expect(text).toContain('graphwright_occurrence_start_delay_seconds_bucket{le="300"} 1')
  })
})

it('Automations are counted by who paused them', () => {
  const of = (state: 'Active' | 'NotReady' | 'Paused' | undefined, paused = false) =>
    anAutomation({ spec: { paused }, status: state && { state } })
  const automations = [of('Active'), of('Active'), of('Paused'), of('Paused', true), of('NotReady'), of(undefined)]
  expect(Object.fromEntries(censusOf(automations))).toEqual({
    active: 2,
    not_ready: 1,
    paused_by_hand: 1,
    paused_by_failures: 1,
  })
})
