import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Automation, AutomationSpec, AutomationStatus } from '../../../src/api/automation.ts'
import type { AutomationFiring, AutomationFiringStatus } from '../../../src/api/automation-firing.ts'
import { backfillKey } from '../../../src/cli/backfill-key.ts'
import { explainAt, renderAccount } from '../../../src/cli/explain.ts'
import { type Answer, answers, explainOccurrence } from '../../../src/cli/explain-occurrence.ts'
import { viewOf } from '../../../src/cli/schedule-view.ts'
import { deepFreeze } from '../../../src/lib/readonly.ts'
import { startOf } from '../../../src/schedule/jitter.ts'
import { aFiring, anAutomation } from '../../kit/builders.ts'
import { scheduleOf } from '../schedule/schedules.ts'

/** An hourly Automation of midnight, looked at by noon; its last decided occurrence is that of 11:00. */
const day = (time: string) => `2026-12-01T${time}:00.000Z`
const now = new Date(day('12:30'))
const digest = `sha256:${'0'.repeat(64)}`
const schedule = { digest, changedAt: day('00:00'), watermark: day('11:00') }

interface Given {
  readonly spec?: Partial<AutomationSpec>
  readonly status?: AutomationStatus
  readonly firings?: readonly AutomationFiring[]
}

function hourly({ spec, status }: Given = {}): Automation {
  return anAutomation({
    name: 'hourly',
    metadata: { creationTimestamp: day('00:00').replace('.000', '') },
    spec: { triggers: [{ id: 'tick', kind: 'schedule', cron: '@hourly', timezone: 'UTC' }], ...spec },
    status: { state: 'Active', schedule, ...status },
  })
}

function ofSchedule(time: string, status?: AutomationFiringStatus): AutomationFiring {
  const spec = {
    automation: { name: 'hourly', uid: 'uid-of-hourly' },
    trigger: 'schedule',
    occurrence: day(time),
  } as const
  return aFiring({ name: `hourly-${time.replace(':', '')}`, spec, status })
}

function backfilled(time: string, status?: AutomationFiringStatus): AutomationFiring {
  const spec = { automation: { name: 'hourly', uid: 'uid-of-hourly' }, idempotencyKey: backfillKey.keyOf(day(time)) }
  return aFiring({ name: 'hourly-manual-x', spec, status })
}

function explain(time: string, given: Given = {}) {
  const view = viewOf(deepFreeze(hourly(given)), deepFreeze([...(given.firings ?? [])]), now)
  return explainOccurrence(view, new Date(day(time)))
}

const skipped = (reason: string, count: number, first: string, last: string) => ({
  schedule: { ...schedule, skipped: [{ reason, count, first: day(first), last: day(last) }] },
})

type Row = readonly [title: string, time: string, given: Given, answer: Answer, summary: RegExp]

const succeeded = ofSchedule('09:00', { phase: 'Succeeded' })
const forbidden = ofSchedule('09:00', {
  phase: 'Skipped',
  reason: 'ConcurrencyForbidden',
  message: 'Another was under way.',
})

const rows: readonly Row[] = [
  ['it ran', '09:00', { firings: [succeeded] }, 'Fired', /^ran as hourly-0900: Succeeded$/],
  [
    'it ran, though a record of skips covers it',
    '09:00',
    { firings: [succeeded], status: skipped('Superseded', 2, '08:00', '10:00') },
    'Fired',
    /Succeeded/,
  ],
  [
    'another was under way',
    '09:00',
    { firings: [forbidden] },
    'Fired',
    /^not run: hourly-0900: Skipped \(ConcurrencyForbidden\)$/,
  ],
  [
    'its firing waits',
    '09:00',
    { firings: [ofSchedule('09:00')] },
    'Fired',
    /^made and not started yet: hourly-0900: Pending$/,
  ],
  ['before the creation', '00:00', {}, 'BeforeCreation', /before its creation/],
  [
    'before a change of the schedule',
    '05:00',
    { status: { schedule: { ...schedule, changedAt: day('06:30') } } },
    'BeforeChange',
    /before the last change/,
  ],
  [
    'superseded with others',
    '05:00',
    { status: skipped('Superseded', 5, '03:00', '07:00') },
    'Skipped',
    /^skipped: Superseded \(one of 5 from 2026-12-01T03:00:00Z to 2026-12-01T07:00:00Z\)$/,
  ],
  [
    'skipped alone',
    '05:00',
    { status: skipped('DeadlineExceeded', 1, '05:00', '05:00') },
    'Skipped',
    /^skipped: DeadlineExceeded \(the only one\)$/,
  ],
  [
    'one of a range of which some ran and were pruned',
    '05:00',
    { status: skipped('Superseded', 3, '03:00', '07:00') },
    'Decided',
    /^probably skipped: Superseded/,
  ],
  [
    'one of a range of which some ran and are there',
    '05:00',
    { status: skipped('Superseded', 4, '03:00', '07:00'), firings: [ofSchedule('04:00', { phase: 'Succeeded' })] },
    'Skipped',
    /^skipped: Superseded/,
  ],
  ['decided, and no record is left', '05:00', {}, 'Decided', /no record of it is left/],
  [
    'let pass while paused, and not recorded',
    '11:00',
    { status: { schedule: { digest, changedAt: day('00:00'), watermark: day('08:00'), resumedAt: day('11:30') } } },
    'BeforeResume',
    /was paused or not ready/,
  ],
  [
    'skipped while paused',
    '05:00',
    {
      status: {
        schedule: { ...schedule, ...skipped('Paused', 3, '04:00', '06:00').schedule, resumedAt: day('06:30') },
      },
    },
    'Skipped',
    /^skipped: Paused/,
  ],
  ['still to come', '13:00', {}, 'Upcoming', /^still to come$/],
  ['due and paused', '12:00', { spec: { paused: true }, status: { state: 'Paused' } }, 'Paused', /is paused$/],
  ['due, and it paused itself', '12:00', { status: { state: 'Paused' } }, 'Paused', /has paused itself$/],
  [
    'due and not ready',
    '12:00',
    {
      status: { state: 'NotReady', readiness: [{ check: 'agent', state: 'Failed', message: 'There is no Agent x.' }] },
    },
    'NotReady',
    /is not ready$/,
  ],
  ['due, and nobody has looked', '12:00', {}, 'Undecided', /^due, and not decided yet$/],
  [
    'made up for',
    '05:00',
    {
      status: skipped('Superseded', 5, '03:00', '07:00'),
      firings: [backfilled('05:00', { phase: 'Failed', reason: 'ExitCode' })],
    },
    'MadeUp',
    /^made up for by hand as hourly-manual-x: Failed \(ExitCode\)$/,
  ],
]

describe('explainOccurrence', () => {
  it.each(rows)('%s', (_title, time, given, answer, summary) => {
    const schedules = { ...schedule, ...given.status?.schedule }
    const status: AutomationStatus = { ...given.status, schedule: schedules }
    const found = explain(time, { ...given, status })
    expect(found).toMatchObject({ answer, occurrence: day(time), summary: expect.stringMatching(summary) })
    expect(found.why).toMatch(/\.$/)
  })

  it('the message of a firing says why it was not run', () => {
    expect(explain('09:00', { firings: [forbidden] }).why).toBe('Another was under way.')
  })

  it('the firings of an Automation of the same name that is gone do not count', () => {
    const stranger = aFiring({
      spec: { automation: { name: 'hourly', uid: 'another' }, trigger: 'schedule', occurrence: day('09:00') },
    })
    expect(explain('09:00', { firings: [stranger] }).answer).toBe('Decided')
  })

  it('waits for its jitter before it is late', () => {
    const spec = { jitterSeconds: 3600 }
    const start = startOf(scheduleOf('@hourly'), new Date(day('12:00')), 3600, 'uid-of-hourly')
    const at = (instant: number) => viewOf(hourly({ spec }), [], new Date(instant))
    const answerAt = (instant: number) => explainOccurrence(at(instant), new Date(day('12:00')))
    expect(answerAt(start.getTime() - 1)).toMatchObject({
      answer: 'Upcoming',
      summary: 'due, and waits for its jitter',
    })
    expect(answerAt(start.getTime()).answer).toBe('Undecided')
  })
})

describe('a date', () => {
  const at = day('09:00')
  const dated = (status: AutomationStatus, spec: Partial<AutomationSpec> = {}) =>
    hourly({ spec: { triggers: [{ id: 'once', kind: 'schedule_once', at }], ...spec }, status })
  const once = (phase: 'Pending' | 'Consumed' | 'NotFuture', firing?: string): AutomationStatus => ({
    schedule: {
      digest,
      changedAt: day('00:00'),
      once: { at, phase, ...(firing !== undefined && { consumed: { at, firing } }) },
    },
  })

  it.each([
    ['[A-232] was consumed by a firing that is there', dated(once('Consumed', 'hourly-0900')), [succeeded], 'Fired'],
    ['[A-232] was consumed by a firing that is gone', dated(once('Consumed', 'hourly-0900')), [], 'Decided'],
    ['[A-206] had passed when it was chosen', dated(once('NotFuture')), [], 'NotFuture'],
    ['[A-208] is held by a pause', dated(once('Pending'), { paused: true }), [], 'Paused'],
    ['[A-224] is late, and still due', dated(once('Pending')), [], 'Undecided'],
  ] as const)('%s', (_title, automation, firings, answer) => {
    expect(explainOccurrence(viewOf(automation, firings, now), new Date(at)).answer).toBe(answer)
  })

  it('is what is explained, whenever was asked about', () => {
    const view = viewOf(dated(once('Pending')), [], new Date(day('08:00')))
    expect(explainAt(view, new Date(day('07:00')))).toMatchObject({ due: false, explanation: { occurrence: at } })
    expect(renderAccount(explainAt(view, new Date(day('07:00'))))).toContain('After that   2026-12-01T09:00:00Z')
    expect(explainAt(view, new Date('2026-12-01T09:00:30Z'))).toMatchObject({ due: true, next: at })
  })
})

describe('what holds an Automation that has paused itself', () => {
  const pause = {
    reason: 'CommandFailed',
    message: 'Step triage ended with exit code 3.',
    class: 'Runtime' as const,
    since: day('11:00'),
    streak: 3,
    firing: 'hourly-1100',
  }
  const why = (status: object, spec: object = {}) => {
    const held = hourly({ spec, status: { state: 'Paused', schedule, ...status } })
    return explainOccurrence(viewOf(held, [], now), new Date(day('12:00'))).why
  }

  it('[A-176] [N-140] is told with its own cause', () => {
    expect(why({ pause })).toBe(
      '3 firings in a row failed until 2026-12-01T11:00:00Z, the last with CommandFailed: ' +
        'Step triage ended with exit code 3. Mend the cause, then: graphwright resume hourly.',
    )
  })

  it('[N-154] is told with the time from which it tries again', () => {
    const probing = { ...pause, class: 'Transient' as const, reason: 'PodLost', nextProbe: day('13:15') }
    expect(why({ pause: probing })).toMatch(/with PodLost: .* from 2026-12-01T13:15:00Z on is tried/)
  })

  it('[A-176] and somebody has paused it as well', () => {
    expect(why({ pause }, { paused: true })).toMatch(/^Somebody paused it, .*CommandFailed: /)
    expect(why({}, { paused: true })).toBe('Somebody paused it. Resume it: graphwright resume hourly.')
  })
})

describe('explain', () => {
  const view = viewOf(hourly(), [ofSchedule('12:00', { phase: 'Running' })], now)

  it('without an instant explains the last occurrence that was due', () => {
    expect(explainAt(view, undefined)).toMatchObject({
      due: true,
      at: null,
      explanation: { occurrence: day('12:00'), answer: 'Fired' },
      next: day('13:00'),
    })
  })

  it('any second of the minute is about its occurrence', () => {
    const account = explainAt(view, new Date('2026-12-01T12:00:59Z'))
    expect(account).toMatchObject({ due: true, explanation: { occurrence: day('12:00') } })
  })

  it('where nothing was due it says so, and explains the occurrence before', () => {
    const account = explainAt(view, new Date('2026-12-01T11:17:00Z'))
    expect(account).toMatchObject({ due: false, explanation: { occurrence: day('11:00') }, next: day('12:00') })
    expect(`\n${renderAccount(account)}\n`).toMatchInlineSnapshot(`
      "
      Automation    hourly, Active
      Schedule      @hourly (UTC)
      Asked         2026-12-01T11:17:00Z: not due then
      Before that   2026-12-01T11:00:00Z
      Answer        decided, and no record of it is left
      Why           It ran and its firing was pruned since, or it was skipped and that is not kept any more.
      Next          2026-12-01T12:00:00Z
      "
    `)
  })

  it('says what holds the Automation, also where the last occurrence ran', () => {
    const readiness = [{ check: 'agent', state: 'Failed', message: 'There is no Agent x.' } as const]
    const held = hourly({ status: { state: 'NotReady', readiness } })
    const shown = renderAccount(explainAt(viewOf(held, [ofSchedule('12:00', { phase: 'Succeeded' })], now), undefined))
    expect(shown).toContain('Held         There is no Agent x.')
    expect(shown).toContain('unless this still holds it')
    expect(renderAccount(explainAt(view, undefined))).not.toContain('Held')
  })

  it('shows the time of the zone beside UTC', () => {
    const spec = { triggers: [{ id: 'tick', kind: 'schedule', cron: '0 9 * * *', timezone: 'Europe/Berlin' } as const] }
    const shown = renderAccount(explainAt(viewOf(hourly({ spec }), [], now), undefined))
    expect(shown).toContain('2026-12-01T09:00+01:00 (2026-12-01T08:00:00Z)')
  })

  it('refuses what has no schedule', () => {
    const manual = viewOf(anAutomation(), [], now)
    expect(() => explainAt(manual, undefined)).toThrow(expect.objectContaining({ code: 'no_schedule', exitCode: 2 }))
  })
})

describe('docs/schedules.md', () => {
  it('has a row for every answer, and no other', () => {
    const [, table = ''] = readFileSync('docs/schedules.md', 'utf8').split('| answer | what it means |\n')
    const rows = (table.split('\n\n')[0] ?? '').split('\n').slice(1)
    const named = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name))
    expect(new Set(named)).toEqual(new Set(answers))
  })
})
