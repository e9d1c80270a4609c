import { describe, expect, it } from 'vitest'
import type { AutomationFiringStatus } from '../../../../src/api/automation-firing.ts'
import { deepFreeze } from '../../../../src/lib/readonly.ts'
import {
  AbandonedBatch,
  abandonedStatus,
  millisToAbandonment,
} from '../../../../src/reconcilers/automation-firing/abandoned.ts'
import { aFiring, createdAt } from '../../../kit/builders.ts'
import { lintStatus } from '../../../kit/lint-status.ts'

const hour = 3_600_000
const admittedAt = createdAt
const later = (millis: number) => new Date(Date.parse(admittedAt) + millis)

function firing(steps: NonNullable<AutomationFiringStatus['steps']>) {
  const status = { phase: 'Waiting', admission: { admittedAt }, startedAt: admittedAt, steps } as AutomationFiringStatus
  return deepFreeze(aFiring({ status }))
}

const running = { kind: 'running' as const, session: 'a', startedAt: admittedAt }

describe('[N-175] a firing in which nothing moves', () => {
  it('is stuck after more than 25 hours, not at 25', () => {
    expect(millisToAbandonment(firing({ a: running }), later(24 * hour))).toBe(hour)
    expect(millisToAbandonment(firing({ a: running }), later(25 * hour))).toBe(0)
    expect(millisToAbandonment(firing({ a: running }), later(25 * hour + 1))).toBe(-1)
  })

  it('is not stuck while its steps take turns', () => {
    const done = { kind: 'completed' as const, startedAt: admittedAt, settledAt: later(20 * hour).toISOString() }
    expect(millisToAbandonment(firing({ a: done }), later(30 * hour))).toBe(15 * hour)
    const next = { ...running, startedAt: later(22 * hour).toISOString() }
    expect(millisToAbandonment(firing({ a: done, b: next }), later(30 * hour))).toBe(17 * hour)
  })

  it('is closed as interrupted: what is known stays, what is not known says so', () => {
    const completed = { kind: 'completed' as const, startedAt: admittedAt, settledAt: admittedAt }
    const unknown = { ...running, reason: 'outcome_unknown' }
    const before = firing({ a: completed, b: unknown })
    const status = abandonedStatus(before, later(26 * hour))
    expect(status).toMatchObject({
      phase: 'Failed',
      reason: 'Interrupted',
      result: 'failed',
      step: 'b',
      settledAt: later(26 * hour).toISOString(),
      steps: { a: completed, b: { kind: 'failed', reason: 'automation_run_abandoned', session: 'a' } },
    })
    expect(lintStatus({ ...before, status: { ...status, observedGeneration: 1 } } as never)).toEqual([])
  })
})

describe('[N-177] a backlog of stuck firings', () => {
  it('is closed in batches, one a minute', () => {
    const batch = new AbandonedBatch()
    const closed = (now: Date) => Array.from({ length: 200 }, () => batch.take(now)).filter((wait) => wait === 0).length
    expect(closed(later(0))).toBe(50)
    expect(closed(later(30_000))).toBe(0)
    expect(batch.take(later(30_000))).toBe(30_000)
    expect(closed(later(60_000))).toBe(50)
  })
})
