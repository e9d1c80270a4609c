import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Automation, AutomationSpec, AutomationStatus } from '../../../../src/api/automation.ts'
import type { AutomationFiring, AutomationFiringSpec, FiringPhase } from '../../../../src/api/automation-firing.ts'
import { deepFreeze } from '../../../../src/lib/readonly.ts'
import { type PruningInput, planPruning, pruningRules } from '../../../../src/reconcilers/automation/pruning.ts'
import { aFiring, anAutomation } from '../../../kit/builders.ts'

const now = new Date('2026-11-30T12:00:00Z')
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000).toISOString()
const hour = 3600
const day = 24 * hour

/** A firing that settled so many seconds ago; undefined: it has not. */
function firing(
  name: string,
  phase: FiringPhase,
  settled: number | undefined,
  spec: Partial<AutomationFiringSpec> = {},
) {
  const status = { phase, ...(settled !== undefined && { settledAt: ago(settled) }) }
  return aFiring({ name, spec, status })
}

type History = NonNullable<AutomationSpec['history']>

function plan(
  firings: readonly AutomationFiring[],
  given: Partial<PruningInput> & { readonly history?: Partial<History>; readonly status?: AutomationStatus } = {},
) {
  const { history, status, ...rest } = given
  const automation = anAutomation({ ...(history && { spec: { history: history as History } }), status })
  const input = { automation, firings, detailed: new Set<string>(), rules: pruningRules, now, ...rest }
  const pruning = planPruning(deepFreeze(input) as PruningInput)
  const names = (list: typeof pruning.firings) => list.map(({ metadata }) => metadata.name)
  return { firings: names(pruning.firings), details: names(pruning.details), after: pruning.after }
}

const many = (prefix: string, count: number, phase: FiringPhase) =>
  Array.from({ length: count }, (_, index) => firing(`${prefix}${index}`, phase, (index + 1) * hour))

describe('what goes of the past', () => {
  it('keeps as many as a CronJob does: the newest three that succeeded and one that did not', () => {
    const past = [...many('good', 5, 'Succeeded'), ...many('bad', 3, 'Failed'), ...many('skip', 3, 'Skipped')]
    expect(plan(past).firings.sort()).toEqual(['bad1', 'bad2', 'good3', 'good4', 'skip1', 'skip2'])
  })

  it('goes by the limits of the Automation, the oldest first', () => {
    const history = { successfulLimit: 1, failedLimit: 0 }
    expect(plan(many('good', 3, 'Succeeded'), { history }).firings).toEqual(['good2', 'good1'])
    expect(plan(many('bad', 1, 'Cancelled'), { history }).firings).toEqual(['bad0'])
  })

  it('what was skipped takes no place of what ran, nor what was cancelled one of what succeeded', () => {
    const past = [
      ...many('skip', 9, 'Skipped'),
      firing('bad', 'Failed', 9 * hour),
      firing('good', 'Succeeded', 9 * hour),
    ]
    expect(plan(past).firings).toEqual(Array.from({ length: 8 }, (_, index) => `skip${8 - index}`))
  })

  it('never within ten minutes of settling, and comes back then', () => {
    const history = { successfulLimit: 0 }
    expect(plan([firing('x', 'Succeeded', 599)], { history })).toMatchObject({ firings: [], after: 1000 })
    expect(plan([firing('x', 'Succeeded', 600)], { history })).toMatchObject({ firings: ['x'], after: undefined })
  })

  it('never before it has settled', () => {
    const history = { successfulLimit: 0, failedLimit: 0, ttlSeconds: 600 }
    for (const phase of ['Pending', 'Running', 'Waiting'] as const) {
      const given = { history, detailed: new Set(['uid-of-x']) }
      expect(plan([firing('x', phase, undefined)], given)).toEqual({ firings: [], details: [], after: undefined })
    }
  })

  it('[A-308] with an idempotency key not within seven days: until then the key means this very firing', () => {
    const history = { successfulLimit: 0 }
    const keyed = (age: number) => firing('x', 'Succeeded', age, { idempotencyKey: 'monday' })
    expect(plan([keyed(7 * day - 1)], { history })).toMatchObject({ firings: [], after: 1000 })
    expect(plan([keyed(7 * day)], { history }).firings).toEqual(['x'])
  })

  it('after its time to live, though the limits would keep it', () => {
    const history = { ttlSeconds: 2 * hour }
    const past = [firing('old', 'Succeeded', 2 * hour), firing('new', 'Succeeded', hour)]
    expect(plan(past, { history })).toMatchObject({ firings: ['old'], after: hour * 1000 })
  })

  it('its Sessions after an hour, or as the Automation says, but not within ten minutes', () => {
    const past = [
      firing('old', 'Succeeded', hour),
      firing('new', 'Succeeded', hour - 5),
      firing('bare', 'Succeeded', hour),
    ]
    const detailed = new Set(['uid-of-old', 'uid-of-new'])
    expect(plan(past, { detailed })).toEqual({ firings: [], details: ['old'], after: 5000 })
    const history = { detailRetentionSeconds: 2 * hour }
    expect(plan(past, { detailed, history }).details).toEqual([])
    expect(plan(past, { detailed, history: { detailRetentionSeconds: 1 } as History }).details).toEqual(['old', 'new'])
  })

  it('nothing that is being deleted already', () => {
    const going = aFiring({ metadata: { deletionTimestamp: ago(5) }, status: { phase: 'Failed', settledAt: ago(day) } })
    expect(plan([going], { history: { failedLimit: 0 } }).firings).toEqual([])
  })
})

describe('a name that may be asked for again stays', () => {
  const history = { successfulLimit: 0 } as History
  const occurrence = ago(hour)
  const fired = firing('x', 'Succeeded', day, { trigger: 'schedule', occurrence })

  function goes(kind: 'schedule' | 'schedule_once' | 'manual', status: AutomationStatus): boolean {
    const automation: Automation = anAutomation({ spec: { triggers: [{ id: 't', kind }], history }, status })
    return plan([fired], { automation }).firings.length > 0
  }
  const schedule = { digest: `sha256:${'0'.repeat(64)}`, changedAt: ago(day) }

  it('while the watermark does not cover its occurrence', () => {
    expect(goes('schedule', {})).toBe(false)
    expect(goes('schedule', { schedule })).toBe(false)
    expect(goes('schedule', { schedule: { ...schedule, watermark: ago(hour + 60) } })).toBe(false)
    expect(goes('schedule', { schedule: { ...schedule, watermark: occurrence } })).toBe(true)
  })

  it('while its date is still to come', () => {
    const once = (phase: 'Pending' | 'Consumed', at = occurrence) => ({
      schedule: { ...schedule, once: { at, phase } },
    })
    expect(goes('schedule_once', {})).toBe(false)
    expect(goes('schedule_once', once('Pending'))).toBe(false)
    expect(goes('schedule_once', once('Consumed'))).toBe(true)
    expect(goes('schedule_once', once('Pending', ago(-hour)))).toBe(true)
  })

  it('while the Automation lists it, but not for a schedule that is gone', () => {
    const listed = [{ name: 'x', uid: 'uid-of-x' }]
    expect(goes('manual', { active: listed })).toBe(false)
    expect(goes('manual', { pending: listed })).toBe(false)
    expect(goes('manual', {})).toBe(true)
  })
})

it('whatever there is: nothing young or unsettled goes, the newest stay, and waiting until then is enough', () => {
  const phases = fc.constantFrom<FiringPhase>('Pending', 'Running', 'Succeeded', 'Failed', 'Cancelled', 'Skipped')
  const one = fc.record({ phase: phases, age: fc.integer({ min: 0, max: 9 * day }), keyed: fc.boolean() })
  const limit = fc.integer({ min: 0, max: 5 })
  const limits = fc.record({ successfulLimit: limit, failedLimit: limit, skippedLimit: limit })
  fc.assert(
    fc.property(fc.array(one, { maxLength: 30 }), limits, (list, history) => {
      const firings = list.map(({ phase, age, keyed }, index) => {
        const settled = phase === 'Pending' || phase === 'Running' ? undefined : age
        return firing(`f${index}`, phase, settled, keyed ? { idempotencyKey: `k${index}` } : {})
      })
      const detailed = new Set(firings.map(({ metadata }) => metadata.uid ?? ''))
      const pruned = plan(firings, { history: history as History, detailed })
      const gone = new Set(pruned.firings)
      for (const [index, { age, keyed, phase }] of list.entries()) {
        if (phase === 'Pending' || phase === 'Running') expect(gone.has(`f${index}`)).toBe(false)
        if (age < (keyed ? 7 * day : 600)) expect(gone.has(`f${index}`)).toBe(false)
      }
      const succeeded = list.flatMap(({ phase }, index) => (phase === 'Succeeded' ? [`f${index}`] : []))
      const kept = succeeded.filter((name) => !gone.has(name))
      expect(kept.length).toBeGreaterThanOrEqual(Math.min(history.successfulLimit, succeeded.length))
      if (pruned.after === undefined) return
      expect(pruned.after).toBeGreaterThan(0)
      const later = { history: history as History, detailed, now: new Date(now.getTime() + pruned.after) }
      const then = plan(firings, later)
      const rest = firings.filter(({ metadata }) => !gone.has(metadata.name) && !pruned.details.includes(metadata.name))
      const fresh = [...then.firings, ...then.details].filter((name) =>
        rest.some(({ metadata }) => metadata.name === name),
      )
      const more = then.firings.filter((name) => !gone.has(name))
      expect(fresh.length + more.length).toBeGreaterThan(0)
    }),
  )
})
