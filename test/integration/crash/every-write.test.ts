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

async function inParallel<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  const waiting = [...items.entries()]
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [index, item] = next
        results[index] = await work(item)
      }
    }),
  )
  return results
}

function drawn(moments: readonly Doom[]): Doom[] {
  const source = random()
  const left = [...moments]
  return Array.from({ length: draws }, () => left.splice(Math.floor(source() * left.length), 1)).flat()
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
    const deaths = await inParallel(isThorough ? moments : drawn(moments), dieOnce)
    const died = deaths.filter((death) => death !== undefined)
    const seconds = Math.round((performance.now() - begin) / 1000)
    console.log(`${deaths.length} stories, ${died.length} kills, ${calm} writes in a calm one, ${seconds} s`)
    // The last writes of a calm run may be saved where several changes are seen at once.
    expect(died.length).toBeGreaterThan(deaths.length * 0.8)
    if (!isThorough) return
    const kinds = (writes: readonly ToldWrite[]) => new Set(writes.map(({ verb, kind }) => `${verb} ${kind}`))
    expect(kinds(died)).toEqual(kinds(managers[0]?.writes ?? []))
  }, 1_800_000)

  it('[A-301] [A-310] again and again, in every life, still comes to the same end', async () => {
    // A manager begins with the two writes that keep the workspace; it dies soon after.
    const { managers } = await tell(stage(), { dooms: [(life) => ({ at: 5 + (life % 4), moment: 'after' })] })
    const lives = managers[0]?.lives.length ?? 0
    console.log(`${lives} lives`)
    expect(lives).toBeGreaterThan(5)
  }, 240_000)
})
