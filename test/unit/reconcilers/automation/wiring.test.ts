import { describe, expect, it } from 'vitest'
import type { Automation, AutomationSpec } from '../../../../src/api/automation.ts'
import type { AutomationFiring, AutomationFiringStatus } from '../../../../src/api/automation-firing.ts'
import type { KubeObject } from '../../../../src/lib/object.ts'
import { createAutomationReconciler } from '../../../../src/reconcilers/automation.ts'
import { isSettledFiring } from '../../../../src/reconcilers/automation-firing/phase.ts'
import { aFiring, anAgent, anAgentVersion, anAutomation, anEnvironment } from '../../../kit/builders.ts'
import { reconcileContext } from '../../../kit/reconcile-context.ts'

/** What the pieces of a schedule, a pause and a start come to when the reconciler puts them together. */

const condition = { type: 'Ready', status: 'True' as const, reason: 'Usable', message: '', lastTransitionTime: '' }
const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'triage', namespace: 'default' } }
const surroundings: readonly KubeObject[] = [
  anEnvironment({ status: { conditions: [condition] } }),
  anAgent({ status: { latestVersion: { name: 'triager-v1', digest: anAgentVersion().spec.digest } } as never }),
  account,
]
const at = (time: string) => `2026-11-30T${time}.000Z`
const date = { id: 'once', kind: 'schedule_once' as const, at: at('12:30:00') }
const byHand = { id: 'by-hand', kind: 'manual' as const }
const ended = { phase: 'Succeeded', settledAt: at('12:10:00') } as const
const broke = { phase: 'Failed', reason: 'CommandFailed', message: 'It broke.', settledAt: at('12:31:00') } as const

/** One Automation with its firings, as the API server would keep them. */
class World {
  automation: Automation
  readonly firings: AutomationFiring[] = []
  cached: readonly KubeObject[] = surroundings

  constructor(spec: Partial<AutomationSpec>) {
    this.automation = anAutomation({ spec, metadata: { creationTimestamp: at('12:00:00') } })
  }

  get status() {
    return this.automation.status ?? {}
  }

  /** Passes at this time, until one asks for nothing more. */
  async look(time: string): Promise<void> {
    const context = reconcileContext({ cached: this.cached, live: this.firings, now: new Date(at(time)) })
    const read = { ...context.read, byIndex: () => this.firings as never }
    const { create = [], status } = await createAutomationReconciler('manager')(this.automation, { ...context, read })
    for (const one of create) this.add(one.metadata.name, (one as AutomationFiring).spec)
    if (create.length > 0) return await this.look(time)
    this.automation = { ...this.automation, ...(status !== undefined && { status }) }
  }

  add(name: string, spec: Partial<AutomationFiring['spec']> = {}): void {
    this.firings.push(aFiring({ name, spec }))
  }

  change(spec: Partial<AutomationSpec>, generation = (this.automation.metadata.generation ?? 1) + 1): void {
    const { metadata, spec: before } = this.automation
    this.automation = { ...this.automation, metadata: { ...metadata, generation }, spec: { ...before, ...spec } }
  }

  settle(name: string, status: AutomationFiringStatus): void {
    const index = this.firings.findIndex(({ metadata }) => metadata.name === name)
    const firing = this.firings[index]
    if (firing !== undefined) this.firings[index] = { ...firing, status }
  }

  get scheduled(): string[] {
    return this.firings.filter(({ spec }) => spec.trigger === 'schedule').map(({ metadata }) => metadata.name)
  }

  get active(): string[] {
    return (this.status.active ?? []).map(({ name }) => name)
  }
}

describe('a date beside other triggers', () => {
  it('[A-222] [A-233] firing by hand or for an event while it is pending consumes nothing', async () => {
    const world = new World({ triggers: [date, byHand] })
    await world.look('12:05:00')
    world.add('by-hand')
    world.add('event', { trigger: 'event' })
    await world.look('12:06:00')
    expect(world.active).toEqual(['by-hand', 'event'])
    for (const name of ['by-hand', 'event']) world.settle(name, ended)
    await world.look('12:11:00')
    expect(world.status).toMatchObject({ next: date.at, schedule: { once: { at: date.at, phase: 'Pending' } } })
    await world.look('12:30:00')
    expect(world.scheduled).toHaveLength(1)
  })

  it('[A-205] [A-231] once it is consumed, firings for events and by hand start as before, in the same list', async () => {
    const world = new World({ triggers: [date, byHand] })
    await world.look('12:30:00')
    const [name = ''] = world.scheduled
    expect(world.active).toEqual([name])
    world.settle(name, { ...ended, settledAt: at('12:31:00') })
    await world.look('12:31:01')
    expect(world.status).toMatchObject({ next: 'no pending occurrence', schedule: { once: { phase: 'Consumed' } } })
    world.add('event', { trigger: 'event' })
    world.add('by-hand')
    await world.look('12:32:00')
    expect(world.active).toEqual(['by-hand', 'event'])
    expect(world.scheduled).toEqual([name])
  })

  it('[A-229] each firing keeps the event that it came with', async () => {
    const world = new World({ triggers: [date, byHand] })
    world.add('by-hand', { event: { from: 'alice' } })
    await world.look('12:30:00')
    expect(world.firings.map(({ spec }) => spec.event)).toEqual([{ from: 'alice' }, { occurrence: date.at }])
  })
})

describe('a date whose firing fails', () => {
  it('[A-177] pauses nothing: there is nothing left that a pause would hold, and the next date is another matter', async () => {
    const world = new World({ triggers: [date] })
    await world.look('12:30:00')
    world.settle(world.scheduled[0] ?? '', broke)
    await world.look('12:31:01')
    expect(world.status).toMatchObject({ state: 'Active', schedule: { once: { phase: 'Consumed' } } })
    expect(world.status.pause).toBeUndefined()
    for (const [n, time] of ['13:00:00', '14:00:00', '15:00:00'].entries()) {
      world.change({ triggers: [{ ...date, at: at(time) }] })
      await world.look(`${12 + n}:50:00`)
      await world.look(time)
      const name = world.scheduled.at(-1) ?? ''
      expect(world.scheduled).toHaveLength(n + 2)
      world.settle(name, { ...broke, settledAt: at(time.replace(':00:', ':01:')) })
      await world.look(time.replace(':00:', ':02:'))
      expect(world.status.state).toBe('Active')
    }
  })

  it('[A-220] a date that is chosen at the same moment wins, and the failed firing keeps its result', async () => {
    const world = new World({ triggers: [date] })
    await world.look('12:30:00')
    const [name = ''] = world.scheduled
    world.settle(name, broke)
    // The pass that has seen the failure alone fails: its write carries an older resourceVersion. This is the next one.
    world.change({ triggers: [{ ...date, at: at('13:30:00') }] })
    await world.look('12:31:01')
    expect(world.status).toMatchObject({
      state: 'Active',
      schedule: { once: { at: at('13:30:00'), phase: 'Pending' } },
    })
    expect(world.firings.find(({ metadata }) => metadata.name === name)?.status).toEqual(broke)
    await world.look('13:30:00')
    expect(world.scheduled).toHaveLength(2)
  })
})

describe('what an Automation is', () => {
  it('[A-149] [A-176] is told by its state, and a pause by its reason', async () => {
    const world = new World({ triggers: [byHand] })
    await world.look('12:00:01')
    expect([world.status.state, world.status.reason]).toEqual(['Active', undefined])
    world.change({ paused: true })
    await world.look('12:00:02')
    expect([world.status.state, world.status.reason]).toEqual(['Paused', 'ByHand'])
    world.change({ paused: false })
    await world.look('12:00:03')
    expect([world.status.state, world.status.reason]).toEqual(['Active', undefined])
  })

  it('[N-013] [N-015] one with the trigger manual alone is started by nothing but people', async () => {
    const world = new World({ triggers: [byHand] })
    for (const time of ['12:00:00', '13:00:00', '23:59:59']) await world.look(time)
    expect(world.firings).toEqual([])
    expect(world.status.next).toBe('when fired by hand')
  })

  it('[N-194] one that lacks something starts nothing, however often it is due, and goes on once it is there', async () => {
    const cron = { id: 'tick', kind: 'schedule' as const, cron: '* * * * *', timezone: 'UTC' }
    const world = new World({ triggers: [cron] })
    world.cached = surroundings.filter(({ kind }) => kind !== 'ServiceAccount')
    for (const time of ['12:00:30', '12:01:00', '12:02:00', '12:03:00']) await world.look(time)
    expect(world.status).toMatchObject({ state: 'NotReady', reason: 'NotReady', next: 'not ready' })
    expect(world.firings).toEqual([])
    world.cached = surroundings
    await world.look('12:03:30')
    expect(world.firings).toEqual([])
    await world.look('12:04:00')
    expect(world.firings.map(({ spec }) => spec.occurrence)).toEqual([at('12:04:00')])
    expect(world.firings.some(isSettledFiring)).toBe(false)
  })
})
