import { expect, it, onTestFinished } from 'vitest'
import { type Automation, automation } from '../../../src/api/automation.ts'
import { automationFiring } from '../../../src/api/automation-firing.ts'
import { eventType } from '../../../src/kube/core-types.ts'
import { eventually } from '../../kit/eventually.ts'
import { ManagerKeeper } from '../../kit/manager-process.ts'
import { startOperator } from '../../kit/operator.ts'
import { installationForFile } from '../crash/stage.ts'
import { Ledger } from './ledger.ts'
import { problemsOf, type Subject } from './oracle.ts'
import { Ticking } from './ticking.ts'

/**
 * Managers whose machines have another time than the API server, and whose clocks are set while they run: in real time,
 * against the real clock of a real API server. Two at once, so that each is off in another way when the minute turns.
 */
const operator = installationForFile()

const second = 1000
const minute = 60_000
const hour = 3_600_000

/** By how much each machine is ahead, in seconds around the turn of the minute. */
const machines = {
  fast: [
    [-60, 5000],
    [-20, -5000],
    [-15, 0],
    [-11, hour],
    [-6, 5000],
    [6, -hour],
    [11, 0],
  ],
  slow: [
    [-60, -5000],
    [-20, 5000],
    [-15, -hour],
    [-8, -5000],
    [6, hour],
    [11, 0],
  ],
} as const

/** What becomes due while the clock is set to and fro, in seconds around the turn of the minute. */
const dates = Array.from({ length: 26 }, (_, n) => -24 + n * 1.6)
const policies = ['All', 'Latest', 'None'] as const

class Site {
  readonly ticking: Ticking
  readonly ledger: Ledger
  readonly made: Subject[] = []
  readonly at = new Map<string, number>()

  constructor(ticking: Ticking, ledger: Ledger) {
    this.ticking = ticking
    this.ledger = ledger
  }

  static async create(): Promise<Site> {
    const ticking = await Ticking.create()
    const first = await startOperator(ticking.client, ticking.namespace)
    await ticking.ready()
    await first.stop()
    const ledger = await Ledger.start(ticking.client, ticking.namespace, Date.now)
    onTestFinished(() => ledger.stop())
    return new Site(ticking, ledger)
  }

  /** One Automation for each policy and each date. */
  async fill(turn: number): Promise<void> {
    for (const policy of policies) {
      const name = `minutely-${policy.toLowerCase()}`
      const { metadata } = await this.ticking.add(name, '* * * * *', { missedOccurrences: { policy } })
      this.made.push({ name, step: 1, policy, createdAt: metadata.creationTimestamp ?? '' })
    }
    for (const [index, offset] of dates.entries()) {
      const name = `date-${index}`
      this.at.set(name, turn + offset * second)
      const at = new Date(turn + offset * second).toISOString()
      await this.ticking.add(name, '', { triggers: [{ id: 'tick', kind: 'schedule_once', at }] })
    }
  }

  get(name: string): Promise<Automation> {
    return this.ticking.client.get(automation, { namespace: this.ticking.namespace, name })
  }
}

it('[A-223] [A-224] neither lose nor repeat an occurrence, nor start one before the API server has its time', async () => {
  const sites = { fast: await Site.create(), slow: await Site.create() }
  // As soon as possible, but not before everything is there.
  const turn = Math.ceil((Date.now() + 55 * second) / minute) * minute
  const until = turn + 17 * second
  const begin = async (kind: 'fast' | 'slow') => {
    const site = sites[kind]
    await site.fill(turn)
    const { args, env } = operator().settings(site.ticking.namespace)
    const settings = machines[kind].map(([offset, ahead]) => [turn + offset * second, ahead])
    const manager = new ManagerKeeper({
      args: [...args, '--leader-elect', `--leader-election-namespace=${site.ticking.namespace}`],
      env: { ...env, MACHINE: JSON.stringify(settings) },
    })
    onTestFinished(() => manager.stop())
    await manager.until(({ output }) => output.includes('controllers run'))
  }
  await Promise.all([begin('fast'), begin('slow')])
  expect(Date.now()).toBeLessThan(turn - 25 * second)
  await new Promise((resolve) => setTimeout(resolve, until - Date.now()))

  for (const { ticking, ledger, made, at } of Object.values(sites)) {
    const { namespace, client } = ticking
    await eventually(async () => {
      const { items } = await client.list(automationFiring, { namespace })
      return items.length > 0 && items.every(({ status }) => status?.settledAt !== undefined)
    })
    await ledger.catchesUp()
    expect(made.flatMap((one) => problemsOf(one, until, ledger.firings(one.name), ledger.skips(one.name)))).toEqual([])
    expect(made.flatMap(({ name }) => ledger.skips(name))).toEqual([])
    const late: number[] = []
    for (const [name, date] of at) {
      const firings = ledger.firings(name)
      expect(firings.map(({ occurrence }) => occurrence)).toEqual([new Date(date).toISOString()])
      late.push(...firings.map(({ seenAt }) => seenAt - date))
    }
    const { items } = await client.list(automationFiring, { namespace })
    for (const { metadata, spec } of items) {
      // The time of the API server itself, cut to the second.
      const began = Math.floor(Date.parse(spec.occurrence ?? '') / second) * second
      expect(Date.parse(metadata.creationTimestamp ?? '')).toBeGreaterThanOrEqual(began)
    }
    console.log(`${late.length} dates were seen ${Math.min(...late)} to ${Math.max(...late)} ms after their time`)
    expect(Math.min(...late)).toBeGreaterThanOrEqual(0)
    // By a clock that is five seconds slow it would be five.
    expect(Math.max(...late)).toBeLessThan(4 * second)
    const { items: events } = await client.list(eventType, { namespace })
    const told = events.filter(({ regarding }) => regarding?.kind === 'Lease').map(({ reason }) => reason)
    expect(told).toEqual(expect.arrayContaining(['ClockSkewed', 'ClockCorrected']))
  }
}, 240_000)
