import { describe, expect, it } from 'vitest'
import { chooseMissed, renderLeft, renderMissed } from '../../../src/cli/backfill-choice.ts'
import { backfillKey } from '../../../src/cli/backfill-key.ts'
import { viewOf } from '../../../src/cli/schedule-view.ts'
import { aFiring, anAutomation } from '../../kit/builders.ts'

const day = (time: string) => `2026-12-01T${time}:00.000Z`
const now = new Date(day('12:30'))

/** Created at 00:30; 03:00 to 07:00 were superseded; the rest was decided, up to 11:00. */
const hourly = anAutomation({
  name: 'hourly',
  metadata: { creationTimestamp: '2026-12-01T00:30:00Z' },
  spec: { triggers: [{ id: 'tick', kind: 'schedule', cron: '@hourly', timezone: 'Asia/Kathmandu' }] },
  status: {
    state: 'Active',
    schedule: {
      digest: `sha256:${'0'.repeat(64)}`,
      changedAt: day('00:30'),
      watermark: day('11:15'),
      skipped: [{ reason: 'Superseded', count: 5, first: day('03:15'), last: day('07:15') }],
    },
  },
})
const automation = { name: 'hourly', uid: 'uid-of-hourly' }
const firings = [
  aFiring({ name: 'at-eight', spec: { automation, trigger: 'schedule', occurrence: day('08:15') } }),
  aFiring({
    name: 'by-hand',
    spec: { automation, idempotencyKey: backfillKey.keyOf(day('04:15')), requestedBy: 'bob' },
  }),
]
const window = { from: new Date(day('00:00')), to: new Date(day('14:00')), unrecorded: false }

describe('chooseMissed', () => {
  const view = viewOf(hourly, firings, now)

  it('takes what was skipped, and nothing that has a firing, was made up for, or has no record', () => {
    const { missed, left } = chooseMissed(view, window)
    expect(missed.map(({ occurrence }) => occurrence)).toEqual(['03:15', '05:15', '06:15', '07:15'].map(day))
    expect(left).toEqual({ BeforeCreation: 1, Decided: 5, MadeUp: 1, Fired: 1, Undecided: 1, Upcoming: 1 })
  })

  it('takes what has no record only where it is asked for', () => {
    const { missed } = chooseMissed(view, { ...window, unrecorded: true })
    expect(missed).toHaveLength(9)
  })

  it('the window has both its ends', () => {
    const { missed } = chooseMissed(view, { ...window, from: new Date(day('05:15')), to: new Date(day('06:15')) })
    expect(missed.map(({ occurrence }) => occurrence)).toEqual(['05:15', '06:15'].map(day))
  })

  it('says what it takes and what it leaves', () => {
    const choice = chooseMissed(view, window)
    expect(renderLeft(choice)).toContain('left alone: 5 of which no record is left')
    expect(renderMissed(choice, new Map([[day('05:15'), 'hourly-manual-1']]))).toMatchInlineSnapshot(`
      "LOCAL (Asia/Kathmandu)   UTC                    WHAT BECAME OF IT                                                                  FIRING
      2026-12-01T09:00+05:45   2026-12-01T03:15:00Z   skipped: Superseded (one of 5 from 2026-12-01T03:15:00Z to 2026-12-01T07:15:00Z)   -
      2026-12-01T11:00+05:45   2026-12-01T05:15:00Z   skipped: Superseded (one of 5 from 2026-12-01T03:15:00Z to 2026-12-01T07:15:00Z)   hourly-manual-1
      2026-12-01T12:00+05:45   2026-12-01T06:15:00Z   skipped: Superseded (one of 5 from 2026-12-01T03:15:00Z to 2026-12-01T07:15:00Z)   -
      2026-12-01T13:00+05:45   2026-12-01T07:15:00Z   skipped: Superseded (one of 5 from 2026-12-01T03:15:00Z to 2026-12-01T07:15:00Z)   -"
    `)
  })

  it('refuses a window that nobody means', () => {
    const years = { ...window, to: new Date('2036-12-01T00:00:00Z') }
    expect(() => chooseMissed(view, years)).toThrow(expect.objectContaining({ code: 'usage', exitCode: 2 }))
  })

  it.each([
    ['a date', [{ id: 'once', kind: 'schedule_once', at: day('10:00') }]],
    ['no schedule', [{ id: 'by-hand', kind: 'manual' }]],
  ] as const)('refuses an Automation with %s', (_title, triggers) => {
    const other = anAutomation({ spec: { triggers: triggers.map((one) => ({ ...one })) } })
    expect(() => chooseMissed(viewOf(other, [], now), window)).toThrow(expect.objectContaining({ code: 'no_schedule' }))
  })
})

describe('backfillKey', () => {
  it('is read back, and no other key is', () => {
    expect(backfillKey.occurrenceOf(backfillKey.keyOf(day('05:15')))).toBe(day('05:15'))
    expect(['backfill-', 'backfill-x', 'request-1', undefined].map(backfillKey.occurrenceOf)).toEqual(
      Array(4).fill(undefined),
    )
  })
})
