import { describe, expect, it } from 'vitest'
import {
  type Automation,
  type AutomationSpec,
  automationStatus,
  maxActiveFirings,
} from '../../../src/api/automation.ts'
import type { AutomationFiring } from '../../../src/api/automation-firing.ts'
import { createAutomationReconciler } from '../../../src/reconcilers/automation.ts'
import { aFiring, anAgent, anAgentVersion, anAutomation, anEnvironment } from '../../kit/builders.ts'
import { reconcileContext } from '../../kit/reconcile-context.ts'

/** Everything that an Automation depends on. */
const condition = { type: 'Ready', status: 'True' as const, reason: 'Usable', message: '', lastTransitionTime: '' }
const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'triage', namespace: 'default' } }
const cached = [
  anEnvironment({ status: { conditions: [condition] } }),
  anAgent({ status: { latestVersion: { name: 'triager-v1', digest: anAgentVersion().spec.digest } } as never }),
  account,
]

const listed = (...names: string[]) => names.map((name) => ({ name, uid: `uid-of-${name}` }))

it('a firing that settles, goes or is deleted gives its place back, whatever keeps the object', async () => {
  const deletionTimestamp = '2026-11-30T12:00:00Z'
  const kept = { deletionTimestamp, finalizers: ['example.com/keeps'] }
  const firings = [
    aFiring({ name: 'runs', status: { phase: 'Running' } }),
    aFiring({ name: 'ended', status: { phase: 'Succeeded' } }),
    aFiring({ name: 'deleted', status: { phase: 'Running' }, metadata: kept }),
    aFiring({ name: 'waits' }),
    aFiring({ name: 'waits-deleted', metadata: kept }),
  ]
  const status = { active: listed('runs', 'ended', 'deleted', 'gone'), pending: listed('waits', 'waits-deleted') }
  const context = reconcileContext({})
  const read = { ...context.read, byIndex: () => firings as never }
  const result = await createAutomationReconciler('manager')(anAutomation({ status }), { ...context, read })
  expect(result.status).toMatchObject({ active: listed('runs'), pending: listed('waits') })
})

it('a firing that another manager has listed keeps its place before it is seen here', async () => {
  const live = [
    aFiring({ name: 'runs', status: { phase: 'Running' } }),
    aFiring({ name: 'ended', status: { phase: 'Succeeded' } }),
    aFiring({ name: 'made-again', metadata: { uid: 'another' } }),
    aFiring({ name: 'waits' }),
  ]
  const status = { active: listed('runs', 'ended', 'made-again', 'gone'), pending: listed('waits') }
  const context = reconcileContext({ live })
  const read = { ...context.read, byIndex: () => [] }
  const result = await createAutomationReconciler('manager')(
    anAutomation({ status, spec: { concurrencyPolicy: 'Forbid' } }),
    { ...context, read },
  )
  expect(result.status).toMatchObject({ active: listed('runs') })
  expect(result.status?.pending?.map(({ name }) => name)).toEqual(['waits'])
})

it.each(['Allow', 'Forbid', 'Replace'] as const)(
  'lists as many firings by hand as fit, whatever their number: %s',
  async (policy) => {
    const firings = Array.from({ length: 500 }, (_, number) => aFiring({ name: `by-hand-${number}` }))
    const context = reconcileContext({ cached })
    const read = { ...context.read, byIndex: () => firings as never }
    const automation = anAutomation({ spec: { concurrencyPolicy: policy } })
    const { status } = await createAutomationReconciler('manager')(automation, { ...context, read })
    expect(automationStatus.safeParse(status).error).toBeUndefined()
    expect((status?.active ?? []).length).toBe(policy === 'Allow' ? 100 : 1)
  },
)

describe('a schedule whose firings run without end', () => {
  const trigger = { id: 'tick', kind: 'schedule' as const, cron: '* * * * *', timezone: 'UTC' }
  const start = Date.parse('2026-11-30T12:00:00Z')
  /** Passes of the reconciler until it makes no firing any more. */
  async function lookAt(automation: Automation, firings: AutomationFiring[], now: Date): Promise<Automation> {
    const context = reconcileContext({ now, cached })
    const read = { ...context.read, byIndex: () => firings as never }
    const { create = [], status } = await createAutomationReconciler('manager')(automation, { ...context, read })
    firings.push(...create.map((one) => aFiring({ name: one.metadata.name, spec: (one as AutomationFiring).spec })))
    if (create.length > 0) return await lookAt(automation, firings, now)
    expect(automationStatus.safeParse(status).error).toBeUndefined()
    return { ...automation, ...(status && { status }) }
  }

  it.each(['All', 'Latest'] as const)(
    'keeps within its lists, and goes on when they have settled: %s',
    async (policy) => {
      const spec: Partial<AutomationSpec> = { triggers: [trigger], missedOccurrences: { policy } }
      let automation = anAutomation({ spec, metadata: { creationTimestamp: new Date(start).toISOString() } })
      const firings: AutomationFiring[] = []
      let now = start
      const passes = async (minutes: number) => {
        for (const end = now + minutes * 60_000; now < end; ) {
          now += 60_000
          automation = await lookAt(automation, firings, new Date(now + 500))
        }
      }
      await passes(400)
      expect(automation.status?.state).toBe('Active')
      const { active = [], pending = [] } = automation.status ?? {}
      expect(firings.map(({ metadata }) => metadata.uid)).toEqual([...active, ...pending].map(({ uid }) => uid))
      const before = firings.length
      expect(before).toBeGreaterThanOrEqual(maxActiveFirings)
      for (const [index, firing] of firings.entries()) firings[index] = { ...firing, status: { phase: 'Succeeded' } }
      await passes(1)
      const skipped = (automation.status?.schedule?.skipped ?? []).reduce((sum, { count }) => sum + count, 0)
      expect(firings.length).toBeGreaterThan(before)
      expect(firings.length + skipped).toBe(401)
      await passes(1)
      expect(firings.at(-1)?.spec.occurrence).toBe(new Date(now).toISOString())
    },
    // Four hundred passes, each checked.
    60_000,
  )
})

it('[A-200] the next start is reckoned anew when the jitter changes', async () => {
  const trigger = { id: 'tick', kind: 'schedule' as const, cron: '0 * * * *', timezone: 'UTC' }
  const metadata = { creationTimestamp: '2026-11-30T11:30:00Z' }
  const context = reconcileContext({ cached, now: new Date('2026-11-30T11:31:00Z') })
  const read = { ...context.read, byIndex: () => [] }
  const look = (automation: Automation) => createAutomationReconciler('manager')(automation, { ...context, read })
  const spread = anAutomation({ metadata, spec: { triggers: [trigger], jitterSeconds: 3600 } })
  const { status } = await look(spread)
  expect(status?.next).not.toBe('2026-11-30T12:00:00.000Z')
  const edited = { ...spread.metadata, generation: 2 }
  const plain = { ...anAutomation({ spec: { triggers: [trigger] } }), metadata: edited, ...(status && { status }) }
  expect((await look(plain)).status?.next).toBe('2026-11-30T12:00:00.000Z')
})
