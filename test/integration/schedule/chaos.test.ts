import { readFileSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { type AutomationSpec, automation } from '../../../src/api/automation.ts'
import { isSettledFiring } from '../../../src/reconcilers/automation-firing/phase.ts'
import { summarize } from '../../bench/statistics.ts'
import { compressedClock } from '../../kit/compressed-clock.ts'
import { eventually } from '../../kit/eventually.ts'
import { FaultProxy } from '../../kit/fault-proxy.ts'
import { type Doom, ManagerKeeper, type ManagerSettings } from '../../kit/manager-process.ts'
import { startOperator } from '../../kit/operator.ts'
import { random, seed } from '../../kit/random.ts'
import { temporaryFolder } from '../../kit/temporary-folder.ts'
import { installationForFile } from '../crash/stage.ts'
import { Ledger } from './ledger.ts'
import { dueUntil, problemsOf, type SeenFiring, type Subject } from './oracle.ts'
import { Ticking } from './ticking.ts'

/**
 * Schedules under managers that are killed, frozen and late, two at a time and without an election. GRAPHWRIGHT_FULL_CHAOS=1
 * is the whole size, GRAPHWRIGHT_SEED draws the same deaths again.
 */
const isFull = process.env.GRAPHWRIGHT_FULL_CHAOS === '1'
const size = isFull ? { automations: 200, minutes: 10, speed: 3 } : { automations: 45, minutes: 6, speed: 15 }
const minute = 60_000

const operator = installationForFile()

type Made = Subject & { readonly spec: Partial<AutomationSpec> }

const keepNothing = { successfulLimit: 0, failedLimit: 0, skippedLimit: 0, detailRetentionSeconds: 600 }

/** Automations of every mixture: step, policy for what was missed, concurrency, jitter and history. */
async function addVaried(ticking: Ticking, count: number): Promise<Made[]> {
  const made: Made[] = []
  await inLanes(10, count, async (index) => {
    const policy = (['All', 'Latest', 'None', 'All'] as const)[index % 4] ?? 'All'
    const step = index % 5 === 4 ? 2 : 1
    const spec: Partial<AutomationSpec> = {
      missedOccurrences: { policy },
      concurrencyPolicy: index % 3 === 0 ? 'Forbid' : 'Allow',
      ...(index % 7 === 0 && { jitterSeconds: 40 }),
      ...(index % 2 === 0 && { history: keepNothing }),
    }
    const name = `chaos-${String(index).padStart(3, '0')}`
    const { metadata } = await ticking.add(name, step === 1 ? '* * * * *' : '*/2 * * * *', spec)
    made.push({ name, step, policy, spec, createdAt: metadata.creationTimestamp ?? '' })
  })
  return made
}

async function inLanes(lanes: number, count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0
  const lane = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

/** A namespace in which nothing stands in the way of an Automation from the first moment. */
async function readyTicking(): Promise<Ticking> {
  const ticking = await Ticking.create()
  const first = await startOperator(ticking.client, ticking.namespace)
  await ticking.ready()
  await first.stop()
  return ticking
}

/** A time that begins now and passes faster, until just before the minute after so many has begun. */
class Time {
  readonly speed: number
  readonly start: number
  readonly end: number

  /** @param ahead minutes by which it is ahead of the machine's at once */
  constructor({ minutes, speed, ahead = 0 }: { minutes: number; speed: number; ahead?: number }) {
    const now = Date.now()
    this.speed = speed
    this.start = now - (ahead * minute) / (speed - 1)
    this.end = Math.floor(now / minute + ahead + minutes + 1) * minute - 1000
  }

  /** For a manager in a process of its own. It lets names go far sooner than in earnest. */
  settings({ args, env }: ManagerSettings): ManagerSettings {
    const pruning = { settledMillis: 1000, dedupeMillis: 1000 }
    const clock = [this.speed, this.start, this.end]
    return { args, env: { ...env, CLOCK: JSON.stringify(clock), PRUNING: JSON.stringify(pruning) } }
  }

  /** Resolves when so much of the time has passed, from 0 to 1. */
  reaches(share: number): Promise<void> {
    const at = this.start + ((this.end - this.start) * share) / this.speed
    return new Promise((resolve) => setTimeout(resolve, Math.max(0, at - Date.now())))
  }

  /** Resolves when so many minutes have passed. */
  passes(minutes: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, (minutes * minute) / this.speed))
  }
}

/** Resolves when every schedule has decided all that was due, and all that was started has settled. */
async function comesToRest(ticking: Ticking, subjects: readonly Subject[], until: number): Promise<void> {
  const { client, namespace } = ticking
  await eventually(
    async () => {
      const { items } = await client.list(automation, { namespace })
      for (const { metadata, status } of items) {
        const subject = subjects.find(({ name }) => name === metadata.name)
        const last = subject && dueUntil(subject, until).at(-1)
        if (last === undefined) continue
        const { schedule, active = [], pending = [] } = status ?? {}
        if (schedule?.watermark !== last) throw new Error(`${metadata.name} is at ${schedule?.watermark}, not ${last}`)
        if (active.length + pending.length > 0) throw new Error(`${metadata.name} has firings under way`)
      }
      const open = (await ticking.firings()).filter((firing) => !isSettledFiring(firing))
      if (open.length > 0)
        throw new Error(`${open.length} firings have not settled, ${open[0]?.metadata.name} among them`)
    },
    { timeout: isFull ? 600_000 : 180_000, interval: 500 },
  )
}

interface Ended {
  readonly ticking: Ticking
  readonly subjects: readonly Made[]
  readonly ledger: Ledger
  readonly time: Time
  readonly managers: readonly ManagerKeeper[]
}

/** What must be so at the end of every test here; what was seen of the firings. */
async function audit({ ticking, subjects, ledger, time, managers }: Ended): Promise<SeenFiring[]> {
  try {
    await Promise.race([comesToRest(ticking, subjects, time.end), ...managers.map(({ failed }) => failed)])
  } catch (error) {
    const logs = managers.map(({ complaints }) => complaints).join('\n')
    throw new Error(`${error instanceof Error ? error.message : error}\n${logs}`, { cause: error })
  }
  // A manager that was frozen in the middle of a create may send it only now, and says AlreadyFired right after: what is
  // wrong for good stays wrong.
  await eventually(
    async () => {
      await ledger.catchesUp()
      const problems = subjects.flatMap((subject) =>
        problemsOf(subject, time.end, ledger.firings(subject.name), ledger.skips(subject.name)),
      )
      expect(problems).toEqual([])
    },
    { timeout: 30_000, interval: 500 },
  )
  return subjects.flatMap(({ name }) => ledger.firings(name))
}

function keep(settings: ManagerSettings, doomOf?: (life: number) => Doom | undefined): ManagerKeeper {
  const manager = new ManagerKeeper(settings, doomOf)
  onTestFinished(() => manager.stop())
  return manager
}

async function openLedger({ client, namespace }: Ticking, time: Time): Promise<Ledger> {
  // Goes on where the clock of the managers stops, so that what is late looks late.
  const clock = compressedClock(time.speed, time.start)
  const ledger = await Ledger.start(client, namespace, () => clock.now().getTime())
  onTestFinished(() => ledger.stop())
  return ledger
}

describe('two managers without an election', () => {
  it(`killed and frozen at random lose no occurrence and run none twice (seed ${seed})`, async () => {
    const draw = random()
    const ticking = await readyTicking()
    const subjects = await addVaried(ticking, size.automations)
    const time = new Time(size)
    const ledger = await openLedger(ticking, time)
    const settings = time.settings(operator().settings(ticking.namespace))
    let isOver = false
    const doomOf = (): Doom | undefined =>
      isOver
        ? undefined
        : { at: 5 + Math.floor(draw() * 2 * size.automations), moment: draw() < 0.5 ? 'before' : 'after' }
    const managers = [keep(settings, doomOf), keep(settings, doomOf)]

    // Both are away at once for a while, so that occurrences are missed.
    await time.reaches(0.3)
    const away = time.passes(1.5 + draw())
    for (const manager of managers) manager.killUntil(away)
    await away
    // One stands still, and goes on with what it knew.
    for (const share of [0.6, 0.7, 0.8]) {
      await time.reaches(share)
      const life = managers[draw() < 0.5 ? 0 : 1]?.lives.at(-1)
      life?.freeze()
      await time.passes(0.2 + draw() * 0.8)
      life?.thaw()
    }
    await time.reaches(1)
    isOver = true

    const seen = await audit({ ticking, subjects, ledger, time, managers })
    const skips = subjects.flatMap(({ name }) => ledger.skips(name))
    const lives = managers.map((manager) => manager.lives.length)
    const left = (await ticking.firings()).length
    const skipped = skips.reduce((sum, { count }) => sum + count, 0)
    console.log(
      `${subjects.length} Automations, ${size.minutes} minutes: ${seen.length} firings, ${left} of which were not pruned, ` +
        `${skipped} occurrences skipped, ${seen.filter(({ reason }) => reason === 'AlreadyFired').length} firings AlreadyFired, ${lives.join(' and ')} lives`,
    )
    expect(Math.min(...lives)).toBeGreaterThan(2)
    expect(skipped).toBeGreaterThan(0)
    expect(left).toBeLessThan(seen.length)
  }, 1_200_000)

  it(`of which one hears everything late run nothing again that somebody has deleted (seed ${seed})`, async () => {
    const draw = random()
    const ticking = await readyTicking()
    const subjects = await addVaried(ticking, isFull ? 60 : 20)
    const time = new Time({ minutes: isFull ? 10 : 3, speed: 6 })
    const ledger = await openLedger(ticking, time)
    ledger.onFiring = (firing) => {
      const { apiVersion, kind, metadata } = firing
      const { name, uid = '', namespace = '' } = metadata
      if (!isSettledFiring(firing) || metadata.deletionTimestamp !== undefined || draw() < 0.3) return
      // Whoever else deletes it may be first, and what has its name by now may be another one.
      void ticking.client.delete({ apiVersion, kind, name, namespace, uid }).catch(() => {})
    }
    const prompt = time.settings(operator().settings(ticking.namespace))
    const proxy = await FaultProxy.start(serverOf(inject('kubeconfig')))
    onTestFinished(() => proxy.close())
    const managers = [keep(prompt), keep({ ...prompt, env: { ...prompt.env, KUBECONFIG: through(proxy) } })]
    await managers[1]?.until(({ output }) => output.includes('controllers run'))
    proxy.delay(3000)
    await time.reaches(1)

    const seen = await audit({ ticking, subjects, ledger, time, managers })
    const again = seen.filter(({ reason }) => reason === 'AlreadyFired')
    console.log(`${seen.length} firings were seen, ${again.length} of which were made again`)
    expect(again.length).toBeGreaterThan(0)
  }, 600_000)
})

describe('one manager that nobody disturbs', () => {
  it('starts what is due in the same instant soon', async () => {
    const ticking = await readyTicking()
    const subjects: Made[] = []
    const spec: Partial<AutomationSpec> = { missedOccurrences: { policy: 'All' } }
    await inLanes(10, 200, async (index) => {
      const name = `calm-${index}`
      const { metadata } = await ticking.add(name, '* * * * *', spec)
      subjects.push({ name, step: 1, policy: 'All', spec, createdAt: metadata.creationTimestamp ?? '' })
    })
    // Begins well before a minute does, so that all have been looked at by then.
    const ahead = (80 - ((Date.now() / 1000) % 60)) / 60
    const time = new Time({ minutes: isFull ? 4 : 1, speed: 2, ahead })
    const ledger = await openLedger(ticking, time)
    const managers = [keep(time.settings(operator().settings(ticking.namespace)))]
    const began = compressedClock(time.speed, time.start).now().toISOString()
    const seen = await audit({ ticking, subjects, ledger, time, managers })
    expect(subjects.flatMap(({ name }) => ledger.skips(name))).toEqual([])
    const late = seen
      .filter(({ occurrence }) => occurrence > began)
      .map(({ seenAt, occurrence }) => (seenAt - Date.parse(occurrence)) / time.speed)
    const { n, p50, p99 } = summarize(late)
    const load = loadavg()[0]?.toFixed(1)
    console.log(
      `200 due at once: seen p50 ${Math.round(p50)} ms, p99 ${Math.round(p99)} ms after the minute (n=${n}, load ${load})`,
    )
  }, 300_000)
})

describe('the oracle', () => {
  const subject: Subject = { name: 'one', step: 1, policy: 'Latest', createdAt: '2026-12-01T12:00:30Z' }
  const at = (minute: number) => `2026-12-01T12:0${minute}:00.000Z`
  const until = Date.parse(at(4))
  const fired = (minute: number, more: Partial<SeenFiring> = {}): SeenFiring => ({
    uid: `${minute}`,
    occurrence: at(minute),
    seenAt: Date.parse(at(minute)) + 100,
    phase: 'Succeeded',
    reason: undefined,
    wasAdmitted: true,
    ...more,
  })
  const skip = { reason: 'Superseded', count: 2, first: at(1), last: at(2) }
  const lawful = [fired(3), fired(4)]

  it('has nothing to say where all is well', () => {
    expect(dueUntil(subject, until)).toEqual([at(1), at(2), at(3), at(4)])
    expect(dueUntil({ ...subject, step: 2 }, until)).toEqual([at(2), at(4)])
    expect(problemsOf(subject, until, lawful, [skip])).toEqual([])
    const again = fired(3, { uid: 'again', phase: 'Skipped', reason: 'AlreadyFired', wasAdmitted: false })
    expect(problemsOf(subject, until, [...lawful, again], [skip])).toEqual([])
  })

  it.each([
    ['is lost', lawful.slice(1), [skip]],
    ['ran twice', [...lawful, fired(3, { uid: 'again' })], [skip]],
    ['was not due', [...lawful, fired(5)], [skip]],
    ['was early', [fired(3), fired(4, { seenAt: Date.parse(at(3)) })], [skip]],
    ['began again', [...lawful, fired(3, { uid: 'again', phase: 'Skipped', reason: 'AlreadyFired' })], [skip]],
    ['are skipped, not', lawful, [{ ...skip, count: 1 }]],
    ['are skipped, not', [fired(2), ...lawful], [skip]],
    ['is skipped twice', lawful, [skip, { ...skip, last: at(1), count: 1 }]],
    ['is skipped: LimitExceeded', lawful, [{ ...skip, reason: 'LimitExceeded' }]],
    ['ended Failed', [fired(3), fired(4, { phase: 'Failed', reason: 'NotReady' })], [skip]],
  ] as const)('finds what %s', (problem, firings, skips) => {
    expect(problemsOf(subject, until, firings, skips).join()).toContain(problem)
  })
})

function serverOf(kubeconfig: string): string {
  const server = /server:\s*["']?(https:[^\s"',}]+)/.exec(
    readFileSync(kubeconfig, 'utf8').replaceAll('"server"', 'server'),
  )
  if (server?.[1] === undefined) throw new Error(`no server in ${kubeconfig}`)
  return server[1]
}

/** A kubeconfig for the same server behind a proxy. */
function through(proxy: FaultProxy): string {
  const kubeconfig = inject('kubeconfig')
  const path = join(temporaryFolder(), 'kubeconfig')
  writeFileSync(path, readFileSync(kubeconfig, 'utf8').replaceAll(serverOf(kubeconfig), proxy.url))
  return path
}
