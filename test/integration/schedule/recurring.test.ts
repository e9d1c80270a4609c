import { beforeEach, describe, expect, it } from 'vitest'
import { compressedClock } from '../../kit/compressed-clock.ts'
import { eventually } from '../../kit/eventually.ts'
import { lintStatus } from '../../kit/lint-status.ts'
import { startOperator } from '../../kit/operator.ts'
import { Ticking } from './ticking.ts'

/** A minute passes in half a second. */
const speed = 120
const minute = 60_000

let ticking: Ticking

beforeEach(async () => {
  ticking = await Ticking.create()
})

/** Every full minute after one instant up to another: what `* * * * *` asks for, computed by arithmetic alone. */
function minutesBetween(after: string, until: string): string[] {
  const instants: string[] = []
  for (let at = Math.floor(Date.parse(after) / minute) * minute + minute; at <= Date.parse(until); at += minute) {
    instants.push(new Date(at).toISOString())
  }
  return instants
}

describe('a recurring schedule on a real API server', () => {
  it('[A-004] fires once for every minute from its creation on, in order, and none twice', async () => {
    const clock = compressedClock(speed, Date.now())
    await startOperator(ticking.client, ticking.namespace, { clock })
    await ticking.ready()
    const created = await ticking.add('minutely', '* * * * *', { missedOccurrences: { policy: 'All' } })
    await eventually(async () => (await ticking.firings('minutely')).length >= 8, { timeout: 20_000 })
    await eventually(async () => (await ticking.firings()).every(({ status }) => status?.phase === 'Succeeded'))
    const occurrences = (await ticking.firings('minutely')).map(({ spec }) => spec.occurrence ?? '')
    const until = occurrences.at(-1) ?? ''
    const live = await ticking.get('minutely')
    const wanted = minutesBetween(created.metadata.creationTimestamp ?? '', until)
    expect(occurrences, JSON.stringify(live.status)).toEqual(wanted)
    expect(Date.parse(live.status?.next ?? '')).toBeGreaterThan(Date.parse(until))
    lintStatus(live)
  })

  it('a manager that was away makes up for the latest occurrence and says how many it skipped', async () => {
    const start = Date.now()
    const first = await startOperator(ticking.client, ticking.namespace, { clock: compressedClock(speed, start) })
    await ticking.add('minutely', '* * * * *')
    await eventually(async () => (await ticking.firings()).length >= 2, { timeout: 20_000 })
    await first.stop()
    const before = (await ticking.firings()).length
    const last = (await ticking.firings()).at(-1)?.spec.occurrence ?? ''
    await new Promise((resolve) => setTimeout(resolve, 3000)) // six minutes by the clock of the managers
    await startOperator(ticking.client, ticking.namespace, { clock: compressedClock(speed, start) })
    await eventually(async () => (await ticking.firings()).length > before)
    const skipped = await eventually(async () => {
      const { status } = await ticking.get('minutely')
      const found = status?.schedule?.skipped?.find(({ reason }) => reason === 'Superseded')
      if (found === undefined) throw new Error('nothing is recorded as skipped')
      return found
    })
    const next = (await ticking.firings())[before]?.spec.occurrence ?? ''
    expect(skipped.first).toBe(new Date(Date.parse(last) + minute).toISOString())
    expect(skipped.count).toBe(minutesBetween(last, next).length - 1)
  })

  it('[A-167] a paused Automation fires nothing, and what it slept through is counted, not made up for', async () => {
    const clock = compressedClock(speed, Date.now())
    await startOperator(ticking.client, ticking.namespace, { clock })
    await ticking.add('minutely', '* * * * *')
    await eventually(async () => (await ticking.firings()).length >= 2, { timeout: 20_000 })
    await ticking.change('minutely', { paused: true })
    await eventually(async () => (await ticking.get('minutely')).status?.state === 'Paused')
    const before = (await ticking.firings()).length
    await new Promise((resolve) => setTimeout(resolve, 2000))
    expect((await ticking.firings()).length).toBe(before)
    expect((await ticking.get('minutely')).status?.next).toBe('paused')
  })

  it('concurrencyPolicy Forbid and Allow decide on the Automation, once', async () => {
    const clock = compressedClock(speed, Date.now())
    await startOperator(ticking.client, ticking.namespace, { clock })
    await ticking.add('careful', '* * * * *', { concurrencyPolicy: 'Forbid' })
    await eventually(async () => (await ticking.firings('careful')).length >= 4, { timeout: 20_000 })
    await eventually(async () =>
      (await ticking.firings('careful')).every(({ status }) => ['Succeeded', 'Skipped'].includes(status?.phase ?? '')),
    )
  })

  it('an impossible expression is not ready and says why', async () => {
    await startOperator(ticking.client, ticking.namespace)
    await ticking.add('never', '0 0 30 2 *')
    const live = await eventually(async () => {
      const found = await ticking.get('never')
      if (found.status?.state !== 'NotReady') throw new Error(`state is ${found.status?.state}`)
      return found
    })
    expect(live.status?.readiness).toContainEqual({
      check: 'triggers',
      state: 'Failed',
      message: expect.stringContaining('never due'),
    })
    expect(await ticking.firings()).toEqual([])
  })

  it('two managers at once make one firing for each minute', async () => {
    const start = Date.now()
    await startOperator(ticking.client, ticking.namespace, { clock: compressedClock(speed, start) })
    await startOperator(ticking.client, ticking.namespace, { clock: compressedClock(speed, start) })
    await ticking.ready()
    const created = await Promise.all(
      ['a', 'b', 'c', 'd'].map((name) => ticking.add(name, '* * * * *', { missedOccurrences: { policy: 'All' } })),
    )
    await eventually(async () => (await ticking.firings('d')).length >= 6, { timeout: 20_000 })
    for (const { metadata } of created) {
      const occurrences = (await ticking.firings(metadata.name)).map(({ spec }) => spec.occurrence ?? '')
      const wanted = minutesBetween(metadata.creationTimestamp ?? '', occurrences.at(-1) ?? '')
      expect(occurrences, JSON.stringify((await ticking.get(metadata.name)).status)).toEqual(wanted)
    }
  })
})
