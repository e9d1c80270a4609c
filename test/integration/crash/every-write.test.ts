import { describe, expect, it } from 'vitest'
import type { Doom, ToldWrite } from '../../kit/manager-process.ts'
import { random, seed } from '../../kit/random.ts'
import { stageForFile, tell } from './stage.ts'

/**
 * The manager as a process, killed with SIGKILL before or after its n-th write, and started again. All writes with
 * GRAPHWRIGHT_EVERY_WRITE=1, else a few that are drawn anew each time; GRAPHWRIGHT_SEED draws the same again.
 */

const stage = stageForFile()
const isThorough = process.env.GRAPHWRIGHT_EVERY_WRITE === '1'
/** How many managers die where not every write is tried. */
const draws = 10
/** Stories that run at the same time, each with a manager of its own. */
const atOnce = 3

/** Tells one story in which the manager dies once. Returns the write it died at, if it came so far. */
async function dieOnce(doom: Doom): Promise<ToldWrite | undefined> {
  const { managers } = await tell(stage(), { dooms: [(life) => (life === 0 ? doom : undefined)] }).catch((cause) => {
    throw new Error(`killed ${doom.moment} write ${doom.at}: ${cause.message}`, { cause })
  })
  const [manager] = managers
  return manager?.lives.length === 1 ? undefined : manager?.lives[0]?.begun.find(({ number }) => number === doom.at)
}

/** Tells the stories one after the other, `atOnce` at a time, until as many managers as wanted have died. */
async function dieEach(moments: readonly Doom[], wanted: number): Promise<{ told: number; deaths: ToldWrite[] }> {
  const waiting = [...moments]
  const deaths: ToldWrite[] = []
  let told = 0
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let next = waiting.shift(); next !== undefined && deaths.length < wanted; next = waiting.shift()) {
        const death = await dieOnce(next)
        told++
        if (death !== undefined) deaths.push(death)
      }
    }),
  )
  return { told, deaths }
}

function shuffled<T>(items: readonly T[]): T[] {
  const source = random()
  const left = [...items]
  return items.flatMap(() => left.splice(Math.floor(source() * left.length), 1))
}

describe('a manager that is killed at a write', () => {
  it(`[A-301] [A-310] leaves nothing twice and nothing undone (seed ${seed})`, async () => {
    const { managers } = await tell(stage())
    const calm = managers[0]?.writes.length ?? 0
    const numbers = Array.from({ length: calm }, (_, index) => index + 1)
    const moments = numbers.flatMap((at): Doom[] => [
      { at, moment: 'before' },
      { at, moment: 'after' },
    ])
    const begin = performance.now()
    const { told, deaths } = await dieEach(shuffled(moments), isThorough ? moments.length : draws)
    const seconds = Math.round((performance.now() - begin) / 1000)
    console.log(`${told} stories, ${deaths.length} kills, ${calm} writes in a calm one, ${seconds} s`)
    // A manager sees several changes at once and saves a write where the machine is busy: a story may end before the
    // write it was to die at. Where ten are drawn, another is told instead.
    expect(deaths.length).toBeGreaterThanOrEqual(isThorough ? moments.length * 0.8 : draws)
    if (!isThorough) return
    const kinds = (writes: readonly ToldWrite[]) => new Set(writes.map(({ verb, kind }) => `${verb} ${kind}`))
    expect(kinds(deaths)).toEqual(kinds(managers[0]?.writes ?? []))
  }, 1_800_000)

  it('[A-301] [A-310] again and again, in every life, still comes to the same end', async () => {
    // A manager begins with the two writes that keep the workspace; it dies soon after.
    const { managers } = await tell(stage(), { dooms: [(life) => ({ at: 5 + (life % 4), moment: 'after' })] })
    const lives = managers[0]?.lives.length ?? 0
    console.log(`${lives} lives`)
    expect(lives).toBeGreaterThan(5)
  }, 240_000)
})
