import { expect, it } from 'vitest'
import { doubleWrites } from './invariants.ts'
import { stageForFile, tell } from './stage.ts'
import type { Version } from './witness.ts'

const stage = stageForFile()

/** Versions of the operator's own kinds: what the writes of all managers came to. */
function versionsOf(history: readonly Version[]): number {
  return history.filter(({ object }) => object.apiVersion.startsWith('graphwright.dev/')).length
}

it('[A-310] two managers at once make the same world as one, and hardly write more', async () => {
  const one = await tell(stage())
  const two = await tell(stage(), { dooms: [() => undefined, () => undefined] })
  const counts = [one, two].map(({ managers, history }) => ({
    versions: versionsOf(history),
    writes: managers.map(({ writes }) => writes.length),
    refused: managers.map(({ refused }) => refused),
  }))
  console.log(`one manager ${JSON.stringify(counts[0])}, two managers ${JSON.stringify(counts[1])}`)
  expect(doubleWrites(two.history)).toEqual([])
  // They see different things at different times, so that a status may be told in a step more; they never take turns.
  const [alone = { versions: 0 }, together = { versions: 0 }] = counts
  expect(together.versions).toBeLessThan(alone.versions * 1.3)
  expect(two.managers.every(({ writes }) => writes.length > 0)).toBe(true)
}, 120_000)

it('[A-310] two managers, one of which dies again and again, make the same world as one', async () => {
  const everySixth = () => ({ at: 6, moment: 'before' }) as const
  const { managers } = await tell(stage(), { dooms: [() => undefined, everySixth] })
  const lives = managers[1]?.lives.length ?? 0
  console.log(`the second manager had ${lives} lives`)
  expect(lives).toBeGreaterThan(1)
}, 120_000)
