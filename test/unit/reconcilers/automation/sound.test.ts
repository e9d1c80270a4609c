import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Automation, type AutomationSpec, automationStatus } from '../../../../src/api/automation.ts'
import type { AutomationFiring } from '../../../../src/api/automation-firing.ts'
import type { KubeObject } from '../../../../src/lib/object.ts'
import { createAutomationReconciler } from '../../../../src/reconcilers/automation.ts'
import { aFiring, anAgent, anAgentVersion, anAutomation, anEnvironment } from '../../../kit/builders.ts'
import { reconcileContext } from '../../../kit/reconcile-context.ts'

const condition = { type: 'Ready', status: 'True' as const, reason: 'Usable', message: '', lastTransitionTime: '' }
const surroundings: readonly KubeObject[] = [
  anEnvironment({ status: { conditions: [condition] } }),
  anAgent({ status: { latestVersion: { name: 'triager-v1', digest: anAgentVersion().spec.digest } } as never }),
  anAgentVersion({ name: 'triager-v1' }),
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'triage', namespace: 'default' } } as KubeObject,
]
const at = (time: string) => `2026-11-30T${time}:00.000Z`
const minutely = { id: 'tick', kind: 'schedule' as const, cron: '* * * * *', timezone: 'UTC' }

interface Given {
  readonly changedAt?: string
  readonly firings?: readonly AutomationFiring[]
}

/** One pass, and what it makes and would write. */
async function pass(automation: Automation, time: string, cached = surroundings, given: Given = {}) {
  const { changedAt, firings = [] } = given
  const context = reconcileContext({ cached, live: [...firings], now: new Date(at(time)) })
  const read = { ...context.read, byIndex: () => firings as never, specChangedAt: () => changedAt }
  const { create = [], status } = await createAutomationReconciler('manager')(automation, { ...context, read })
  return { made: create.map((firing) => (firing as AutomationFiring).spec.occurrence), status }
}

/** An Automation as it was recorded at 12:10, when nothing was due, with parts of its status written by hand. */
async function edited(trigger: AutomationSpec['triggers'][number], byHand: Record<string, unknown>) {
  const metadata = { creationTimestamp: at('12:10') }
  const { status } = await pass(anAutomation({ metadata, spec: { triggers: [trigger] } }), '12:10')
  const schedule = { ...status?.schedule, ...(byHand.schedule as object) }
  return anAutomation({ metadata, spec: { triggers: [trigger] }, status: { ...status, ...byHand, schedule } as never })
}

/** What a clock that was wrong leaves behind, and what is none. */
const wrong = ['', 'garbage', '2026-02-31T00:00:00Z', '2036-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z', '-1', '0']

describe('a schedule whose record was written by hand, or by a clock that was wrong', () => {
  it.each(
    (['watermark', 'changedAt', 'resumedAt', 'next'] as const).flatMap((field) => wrong.map((value) => [field, value])),
  )('starts nothing in hindsight and goes on with what is due next: %s %j', async (field, value) => {
    const automation = await edited(minutely, { schedule: { [field]: value } })
    // A time that is to come is what a next one is; until then nothing is looked at.
    if (field === 'next' && Date.parse(value) > Date.parse(at('12:20'))) return
    const first = await pass(automation, '12:20')
    if (field !== 'next') expect(first.made).toEqual([])
    const { schedule } = first.status ?? {}
    if (schedule === undefined) return
    expect(schedule.next).toBe(at('12:21'))
    const healed = { ...automation, status: first.status } as Automation
    expect((await pass(healed, '12:21')).made).toEqual([at('12:21')])
  })

  it('what was fired years ahead of time is still there, and takes the schedule nowhere', async () => {
    const occurrence = '2036-01-01T00:00:00.000Z'
    const spec = { trigger: 'schedule', entry: 'tick', occurrence } as const
    const firings = [aFiring({ name: 'early', spec, status: { phase: 'Succeeded', settledAt: at('12:11') } })]
    const automation = await edited(minutely, { schedule: { watermark: occurrence } })
    const { made, status } = await pass(automation, '12:20', surroundings, { firings })
    expect([made, status?.schedule]).toMatchObject([[], { watermark: at('12:20'), next: at('12:21') }])
    const healed = { ...automation, status } as Automation
    expect((await pass(healed, '12:21', surroundings, { firings })).made).toEqual([at('12:21')])
  })

  it('one that was an hour ahead is no such clock: what it decided is never decided again', async () => {
    const automation = await edited(minutely, { schedule: { watermark: at('13:20'), next: at('13:21') } })
    const { made, status } = await pass(automation, '12:20')
    expect(made).toEqual([])
    expect(status?.schedule).toMatchObject({ watermark: at('13:20'), next: at('13:21') })
  })

  it('a date of it is looked at anew', async () => {
    const date = { id: 'once', kind: 'schedule_once' as const, at: at('12:30') }
    const automation = await edited(date, { schedule: { once: { at: 'garbage', phase: 'Consumed' } } })
    expect((await pass(automation, '12:31', surroundings, { changedAt: at('12:10') })).made).toEqual([at('12:30')])
  })
})

it.each(wrong)('failures that settled at %j pause nothing, and hide none', async (value) => {
  const row = ['a', 'b', 'c'].map((firing) => ({ firing, at: value, reason: 'GatewayUnavailable' }))
  const automation = await edited(minutely, { failures: { row, clearedAt: value, ranByHandAt: value } })
  const { status } = await pass(automation, '12:10')
  expect(status).toMatchObject({ state: 'Active' })
  expect(status?.failures?.row ?? []).toEqual([])
  expect(status?.failures?.clearedAt).not.toBe(value)
})

it('a schedule that is edited together with its managedFields does not start what lies before', async () => {
  const { metadata, spec, status } = await edited(minutely, {})
  const hourly = { ...minutely, cron: '*/5 * * * *' }
  const changed = anAutomation({ metadata, spec: { ...spec, triggers: [hourly] }, status: status as never })
  const { made, status: after } = await pass(changed, '12:20')
  expect([made, after?.schedule?.next]).toEqual([[], at('12:25')])
})

describe('whatever is written into an Automation', () => {
  const text = (maxLength: number) =>
    fc.oneof(
      fc.string({ unit: 'binary', maxLength }),
      fc.constantFrom('\u0001', '"', 'x', '😀', '* ').map((one) => one.repeat(maxLength).slice(0, maxLength)),
    )
  const trigger = fc.record(
    {
      id: text(63).filter((id) => id !== ''),
      kind: fc.constantFrom('schedule', 'schedule_once', 'webhook', 'subscription', 'manual'),
      cron: text(256),
      timezone: text(64),
      at: text(64),
    },
    { requiredKeys: ['id', 'kind'] },
  )

  it('gives a status that the API server takes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(trigger, { minLength: 1, maxLength: 3 }), fc.boolean(), async (triggers, isReady) => {
        const automation = anAutomation({ spec: { triggers: triggers as never } })
        const { status } = await pass(automation, '12:20', isReady ? surroundings : [])
        if (status === undefined) return
        expect(automationStatus.safeParse(JSON.parse(JSON.stringify(status))).error?.issues).toBeUndefined()
      }),
    )
  })
})
