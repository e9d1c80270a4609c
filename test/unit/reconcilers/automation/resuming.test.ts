import { describe, expect, it } from 'vitest'
import type { ScheduleStatus } from '../../../../src/api/automation.ts'
import { deepFreeze } from '../../../../src/lib/readonly.ts'
import { decideSchedule } from '../../../../src/reconcilers/automation/schedule.ts'
import { anAutomation } from '../../../kit/builders.ts'

const now = new Date('2026-11-30T14:59:00Z')
const schedule: ScheduleStatus = { digest: `sha256:${'0'.repeat(64)}`, changedAt: '2026-11-30T12:00:00.000Z' }

function resumedAt(paused: boolean | undefined, specChangedAt: string): string | undefined {
  const automation = anAutomation({
    spec: {
      triggers: [{ id: 'hourly', kind: 'schedule', cron: '0 * * * *', timezone: 'UTC' }],
      ...(paused !== undefined && { paused }),
    },
    status: { state: 'Paused', schedule },
  })
  const input = {
    automation,
    state: 'Active' as const,
    firings: [],
    specChangedAt: new Date(specChangedAt),
    isCrowded: false,
    requester: 'manager',
    now,
  }
  return decideSchedule(deepFreeze(input) as typeof input).status?.resumedAt
}

describe('the time of resuming an Automation', () => {
  it('[A-209] is when paused was set to false, also where no manager ran then', () => {
    expect(resumedAt(false, '2026-11-30T14:10:00Z')).toBe('2026-11-30T14:10:00.000Z')
  })

  it('is now where paused was removed: what was last changed is older, and nothing starts in hindsight', () => {
    expect(resumedAt(undefined, '2026-11-30T12:00:00Z')).toBe(now.toISOString())
  })
})
