import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { automation } from '../../../src/api/automation.ts'
import { eventually } from '../../kit/eventually.ts'
import { ManagerKeeper } from '../../kit/manager-process.ts'
import { previousReleaseProblem } from '../../kit/previous-release.ts'
import { problemsOf, type SeenFiring, type Subject } from '../schedule/oracle.ts'
import { Ticking } from '../schedule/ticking.ts'
import { UpgradeWorld } from './world.ts'

/** By the clock of the machine: the release before knows no other. */

const problem = previousReleaseProblem()
const minute = 60_000
let world: UpgradeWorld

/** The beginning of the minute after an instant. */
function nextMinute(at: number): number {
  return Math.floor(at / minute) * minute + minute
}

function until(instant: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, instant - Date.now())))
}

/** Resolves when every schedule has decided what was due up to an instant, and everything has settled. */
function decided(ticking: Ticking, instant: number): Promise<Map<string, string>> {
  return eventually(
    async () => {
      const { items } = await ticking.client.list(automation, { namespace: ticking.namespace })
      const recurring = items.filter(({ spec }) => spec.triggers.some(({ kind }) => kind === 'schedule'))
      const watermarks = recurring.map(({ metadata, status }): [string, string] => {
        const { schedule, active = [], pending = [] } = status ?? {}
        if (active.length + pending.length > 0) throw new Error(`${metadata.name} has firings under way`)
        return [metadata.name, schedule?.watermark ?? '']
      })
      const behind = watermarks.find(([, watermark]) => !(Date.parse(watermark) >= instant))
      if (behind !== undefined) throw new Error(`${behind[0]} is at ${behind[1]}`)
      return new Map(watermarks)
    },
    { timeout: 90_000, interval: 200 },
  )
}

/** The firings of an Automation by their occurrence. None is pruned so soon, and a watch does not outlive its definition. */
async function seenOf(ticking: Ticking, name: string): Promise<SeenFiring[]> {
  const firings = (await ticking.firings()).filter(({ spec }) => spec.automation.name === name)
  const seen = firings.map(({ metadata, spec, status }) => ({
    uid: metadata.uid ?? '',
    occurrence: spec.occurrence ?? '',
    seenAt: Date.parse(metadata.creationTimestamp ?? ''),
    phase: status?.phase,
    reason: status?.reason,
    wasAdmitted: status?.admission !== undefined,
  }))
  return seen.sort((a, b) => (a.occurrence < b.occurrence ? -1 : 1))
}

describe.skipIf(problem !== undefined)(`schedules${problem === undefined ? '' : ` (${problem})`}`, () => {
  beforeAll(async () => {
    world = await UpgradeWorld.start()
  }, 300_000)
  afterAll(() => world?.stop())

  it('go on where the release before has left them: no occurrence is lost, none fires twice', async () => {
    const ticking = await Ticking.create(world.client)
    const { namespace } = ticking
    await world.define(world.previous)
    await world.serve(world.previous)
    const before = new ManagerKeeper(world.manager(world.previous, namespace))
    await Promise.race([ticking.ready(), before.failed])
    if (nextMinute(Date.now()) - Date.now() < 10_000) await until(nextMinute(Date.now()))

    const first = nextMinute(Date.now())
    const second = first + minute
    const subjects: Subject[] = []
    for (const policy of ['All', 'Latest', 'All', 'Latest'] as const) {
      const name = `every-minute-${subjects.length}`
      const { metadata } = await ticking.add(name, '* * * * *', { missedOccurrences: { policy } })
      subjects.push({ name, step: 1, policy, createdAt: metadata.creationTimestamp ?? '' })
    }
    const at = new Date(second).toISOString()
    await ticking.add('once', '', { triggers: [{ id: 'tick', kind: 'schedule_once', at }] })

    await Promise.race([decided(ticking, first), before.failed])
    await before.stop()
    await world.define(world.current)
    await world.serve(world.current)
    // It is due while nobody is there.
    await until(second + 1000)
    const after = new ManagerKeeper(world.manager(world.current, namespace))
    const watermarks = await Promise.race([decided(ticking, second), after.failed])
    const consumed = async () => expect((await ticking.get('once')).status?.schedule?.once?.phase).toBe('Consumed')
    await Promise.race([eventually(consumed, { timeout: 60_000, interval: 200 }), after.failed])
    await after.stop()

    const problems = subjects.map(async (subject) => {
      const { name } = subject
      const decidedUntil = Date.parse(watermarks.get(name) ?? '')
      const firings = await seenOf(ticking, name)
      const skips = (await ticking.get(name)).status?.schedule?.skipped ?? []
      expect(firings.slice(0, 2).map(({ occurrence }) => occurrence)).toEqual(
        [first, second].map((due) => new Date(due).toISOString()),
      )
      const decidedByThen = firings.filter(({ occurrence }) => Date.parse(occurrence) <= decidedUntil)
      return problemsOf(subject, decidedUntil, decidedByThen, skips)
    })
    expect((await Promise.all(problems)).flat()).toEqual([])
    expect(await seenOf(ticking, 'once')).toMatchObject([{ occurrence: at, phase: 'Succeeded' }])
  }, 300_000)
})
