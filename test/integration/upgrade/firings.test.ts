import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jobType } from '../../../src/kube/core-types.ts'
import { type Doom, ManagerKeeper, type ToldWrite } from '../../kit/manager-process.ts'
import { previousReleaseProblem, type Release } from '../../kit/previous-release.ts'
import { expectLawfulHistory } from '../crash/invariants.ts'
import { theEnd } from '../crash/stage.ts'
import { answers, Story } from '../crash/story.ts'
import { Witness } from '../crash/witness.ts'
import { UpgradeWorld } from './world.ts'

/**
 * From a graph to the end of its firing, begun by one release and ended by another. Each first manager is killed at a write
 * of its own. When all of them are dead, the definitions of the kinds and the gateway become those of the other release,
 * and its managers begin.
 */

const problem = previousReleaseProblem()
let world: UpgradeWorld
let witness: Witness

/** Two releases, one after the other. */
interface Change {
  readonly from: Release
  readonly to: Release
  /** Resolves when the first manager may be followed by the second. */
  readonly change?: () => Promise<void>
}

/** Plays the story and returns its manager and its Jobs. */
async function play({ from, to, change }: Change, doom?: Doom) {
  const story = await Story.prepare(world.client, world.operator.api)
  const { namespace } = story
  const settingsOf = async (life: number) => {
    if (life > 0) await change?.()
    return world.manager(life === 0 ? from : to, namespace)
  }
  const manager = new ManagerKeeper(settingsOf, (life) => (life === 0 ? doom : undefined))
  try {
    await Promise.race([story.play(), manager.failed])
    expect(await story.outcome()).toEqual(theEnd)
    await witness.catchesUp(world.client, namespace)
    await manager.stop()
  } catch (error) {
    await manager.stop().catch(() => {})
    const where = doom === undefined ? 'not killed' : `killed after write ${doom.at}`
    throw new Error(`${where}: ${error instanceof Error ? error.message : error}\n${manager.complaints}`, {
      cause: error,
    })
  } finally {
    await story.stop()
  }
  expectLawfulHistory(witness.history(namespace), { hasGaps: true })
  const { output } = (await story.firing()).status?.steps?.triage ?? {}
  expect(await world.operator.content(output?.digest ?? '')).toBe(answers.triage)
  const { items } = await world.client.list(jobType, { namespace })
  return { manager, jobs: items }
}

/** Plays a story for each of these ends of the first manager, with one change of the world when all of them are dead. */
async function playAll(releases: Pick<Change, 'from' | 'to'>, ends: readonly number[], change: () => Promise<void>) {
  const { promise: changed, resolve, reject } = Promise.withResolvers<void>()
  const left = new Set(ends)
  const isOver = (at: number) => {
    if (left.delete(at) && left.size === 0) change().then(resolve, reject)
  }
  return await Promise.all(
    ends.map(async (at) => {
      const dead = () => {
        isOver(at)
        return changed
      }
      // It may see several changes at once, and end its story before the write at which it was to be killed.
      return await play({ ...releases, change: dead }, { at, moment: 'after' }).finally(() => isOver(at))
    }),
  )
}

/** Writes after which something is made and not on record yet, or on record with nothing following yet. */
function momentsOf(writes: readonly ToldWrite[]): number[] {
  const moments = ['AutomationGraphPlan', 'Automation', 'AutomationFiring', 'Session', 'Run', 'Job'].flatMap((kind) => {
    const ofKind = writes.filter((write) => write.kind === kind)
    const created = ofKind.find(({ verb }) => verb === 'create')
    const recorded = ofKind.filter(({ verb }) => verb === 'apply status')
    return [created, recorded[Math.floor(recorded.length / 2)]].flatMap((write) => write?.number ?? [])
  })
  return [...new Set(moments)].sort((a, b) => a - b)
}

describe.skipIf(problem !== undefined)(`firings under way${problem === undefined ? '' : ` (${problem})`}`, () => {
  beforeAll(async () => {
    world = await UpgradeWorld.start()
    witness = await new Witness(world.client).start()
  }, 300_000)
  afterAll(async () => {
    await witness?.stop()
    await world?.stop()
  })

  it('end after an upgrade as they would have, wherever it met them, with one of everything', async () => {
    const { previous, current } = world
    await world.define(previous)
    await world.serve(previous)
    const calm = await play({ from: previous, to: previous })
    const moments = momentsOf(calm.manager.writes)
    const played = await playAll({ from: previous, to: current }, moments, async () => {
      await world.define(current)
      await world.serve(current)
    })
    const upgraded = played.filter(({ manager }) => manager.lives.length === 2)
    const ends = upgraded.map(({ manager }) =>
      manager.lives[0]?.writes.findLast(({ number }) => moments.includes(number)),
    )
    console.log(`upgraded after ${ends.map((write) => `${write?.verb} ${write?.kind}`).join(', ')}`)
    expect(upgraded.length).toBeGreaterThan(moments.length / 2)
    expect(new Set(ends.map((write) => write?.kind)).size).toBeGreaterThan(3)
  }, 600_000)

  it('end after the operator was rolled back to the release before, with the newer definitions in place', async () => {
    const { previous, current } = world
    await world.define(current)
    await world.serve(current)
    const calm = await play({ from: current, to: current })
    const at = calm.manager.writes.find(({ verb, kind }) => verb === 'create' && kind === 'Job')?.number ?? 0
    const change = () => world.serve(previous)
    const { manager, jobs } = await play({ from: current, to: previous, change }, { at, moment: 'after' })
    expect(manager.lives).toHaveLength(2)
    const images = jobs.map(({ spec }) => JSON.stringify(spec).includes('graphwright:now'))
    expect(images.sort()).toEqual([false, true])
  }, 300_000)
})
