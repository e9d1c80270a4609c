import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { automation } from '../../../src/api/automation.ts'
import { annotations, fieldManagers } from '../../../src/api/labels.ts'
import { changeAsSeen } from '../../../src/cli/change.ts'
import { type Clock, systemClock } from '../../../src/runtime/clock.ts'
import { eventually } from '../../kit/eventually.ts'
import { type CliAnswer, runCli } from '../../kit/fake-io.ts'
import { startOperator } from '../../kit/operator.ts'
import { Ticking } from '../schedule/ticking.ts'
import { adminClient, cliIn } from './support.ts'

const admin = adminClient()
afterAll(() => admin.transport.close())

let ticking: Ticking
beforeEach(async () => {
  ticking = await Ticking.create()
})

const hour = 3_600_000

/** A clock that is ahead of the API server's: an hourly schedule that was just made has missed some occurrences. */
function aheadBy(hours: number): { clock: Clock; hours: number } {
  return { clock: { ...systemClock, now: () => new Date(Date.now() + hours * hour) }, hours }
}

/** The tool at the operator's time. */
function cliAt(clock: Clock): (...args: string[]) => Promise<CliAnswer> {
  return (...args) => cliIn(ticking.namespace)(args, { now: clock.now() })
}

async function json(answer: Promise<CliAnswer>) {
  const { code, out, err } = await answer
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return JSON.parse(out)
}

/** An hourly Automation whose latest occurrence ran, and of which all before it are recorded as superseded. */
async function missedAllBut(ahead: { clock: Clock; hours: number }, spec: Parameters<Ticking['add']>[2] = {}) {
  const { clock, hours } = ahead
  await startOperator(ticking.client, ticking.namespace, { clock })
  await ticking.ready()
  const { metadata } = await ticking.add('hourly', '0 * * * *', spec)
  await eventually(async () => {
    const [only, ...others] = await ticking.firings()
    const skipped = (await ticking.get('hourly')).status?.schedule?.skipped
    return only?.status?.phase === 'Succeeded' && others.length === 0 && skipped?.[0]?.count === hours - 1
  })
  const from = new Date(metadata.creationTimestamp ?? '')
  const first = new Date(Math.floor(from.getTime() / hour) * hour + hour)
  return { from: from.toISOString(), first: first.toISOString(), to: clock.now().toISOString() }
}

describe('a schedule that missed all but the latest', () => {
  const six = aheadBy(6)
  const { clock } = six

  it('next and explain say what is to come, what ran and what did not', async () => {
    const { first } = await missedAllBut(six)
    const cli = cliAt(clock)
    const [firing] = await ticking.firings()
    const upcoming = await json(cli('next', 'hourly', '-n', '2', '-o', 'json'))
    const seventh = new Date(Date.parse(first) + 6 * hour).toISOString()
    expect(upcoming.occurrences).toHaveLength(2)
    expect(upcoming.occurrences[0]).toMatchObject({ occurrence: seventh, startAt: seventh })
    expect((await ticking.get('hourly')).status?.next).toBe(seventh)

    expect(await json(cli('explain', 'hourly', '-o', 'json'))).toMatchObject({
      due: true,
      explanation: { answer: 'Fired', firing: firing?.metadata.name, occurrence: firing?.spec.occurrence },
      next: seventh,
    })
    expect(await json(cli('explain', 'hourly', '--at', first, '-o', 'json'))).toMatchObject({
      explanation: { answer: 'Skipped', skipped: { reason: 'Superseded', count: 5, first } },
    })
    const before = new Date(Date.parse(first) - hour).toISOString()
    expect(await cli('explain', 'hourly', '--at', before)).toMatchObject({
      code: 0,
      out: expect.stringContaining('not due: before its creation'),
    })
  })

  it('[A-557] backfill makes up for each of them once, however often it is asked', async () => {
    const { from, to, first } = await missedAllBut(six)
    const cli = cliAt(clock)
    const backfill = (...args: string[]) =>
      json(cli('backfill', 'hourly', '--from', from, '--to', to, '-o', 'json', ...args))
    const dry = await backfill('--dry-run')
    expect(dry.items).toHaveLength(5)
    expect(await ticking.firings()).toHaveLength(1)

    const made = await backfill()
    expect(made.items.map(({ occurrence }: { occurrence: string }) => occurrence)).toEqual(
      dry.items.map(({ occurrence }: { occurrence: string }) => occurrence),
    )
    const firings = await eventually(async () => {
      const all = await ticking.firings()
      return all.every(({ status }) => status?.phase === 'Succeeded') && all
    })
    const byHand = firings.filter(({ spec }) => spec.trigger === 'manual')
    expect(byHand.map(({ metadata }) => metadata.name).sort()).toEqual(
      made.items.map(({ firing }: { firing: string }) => firing).sort(),
    )
    expect(byHand.map(({ spec }) => (spec.event as { occurrence: string }).occurrence).sort()[0]).toBe(first)
    expect(byHand.every(({ spec }) => spec.entry === 'tick')).toBe(true)

    expect(await backfill()).toMatchObject({ items: [], left: { MadeUp: 5, Fired: 1 } })
    expect(await ticking.firings()).toHaveLength(6)
    expect(await json(cli('explain', 'hourly', '--at', first, '-o', 'json'))).toMatchObject({
      explanation: { answer: 'MadeUp' },
    })
  })

  it('backfill makes one after another where the Automation forbids two at once', async () => {
    const { from, to } = await missedAllBut(six, { concurrencyPolicy: 'Forbid' })
    const { code } = await cliAt(clock)('backfill', 'hourly', '--from', from, '--to', to)
    expect(code).toBe(0)
    const firings = await eventually(async () => {
      const all = await ticking.firings()
      return all.every(({ status }) => status?.settledAt !== undefined) && all
    })
    expect(firings.map(({ status }) => status?.phase)).toEqual(Array(6).fill('Succeeded'))
  })

  it('backfill asks before it makes many, and makes none for what is paused', async () => {
    const thirteen = aheadBy(13)
    const { from, to } = await missedAllBut(thirteen)
    const cli = cliAt(thirteen.clock)
    const backfill = (...args: string[]) => cli('backfill', 'hourly', '--from', from, '--to', to, ...args)
    await cli('pause', 'hourly')
    expect(await backfill('--yes')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^error: validation\.conflict: .*graphwright resume hourly/),
    })
    await ticking.change('hourly', { paused: null })
    expect(await backfill()).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^error: usage: this makes 12 firings/),
    })
    expect((await ticking.firings()).filter(({ spec }) => spec.trigger === 'manual')).toEqual([])
    expect(await backfill('--yes')).toMatchObject({ code: 0, out: expect.stringContaining('Made up for 12 missed') })
    expect((await ticking.firings()).filter(({ spec }) => spec.trigger === 'manual')).toHaveLength(12)
  })
})

describe('pause and resume', () => {
  it('[A-167] [A-169] [A-174] stop and start the same Automation', async () => {
    await startOperator(ticking.client, ticking.namespace)
    await ticking.ready()
    await ticking.add('hourly', '0 * * * *')
    const cli = cliAt(systemClock)
    expect(await json(cli('pause', 'hourly', '-o', 'json'))).toMatchObject({ kind: 'paused', changed: true })
    expect(await json(cli('pause', 'hourly', '-o', 'json'))).toMatchObject({ kind: 'paused', changed: false })
    await eventually(async () => (await ticking.get('hourly')).status?.state === 'Paused')
    expect((await cli('next', 'hourly')).out).toContain('hourly is paused')
    expect(await cli('run', 'hourly')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/graphwright .*resume hourly/),
    })

    expect(await json(cli('resume', 'hourly', '-o', 'json'))).toMatchObject({ kind: 'resumed', changed: true })
    const live = await eventually(async () => {
      const found = await ticking.get('hourly')
      return found.status?.state === 'Active' && found
    })
    expect(live.spec.paused).toBe(false)
    expect(live.metadata.annotations?.[annotations.resumeRequested]).toMatch(/^2\d{3}-/)
    expect(await json(cli('resume', 'hourly', '-o', 'json'))).toMatchObject({ kind: 'resumed', changed: false })
  })

  it('the time of resuming is the time of the change, so that nothing starts in hindsight', async () => {
    await startOperator(ticking.client, ticking.namespace)
    await ticking.ready()
    await ticking.add('hourly', '0 * * * *')
    const cli = cliAt(systemClock)
    await cli('pause', 'hourly')
    await eventually(async () => (await ticking.get('hourly')).status?.state === 'Paused')
    await cli('resume', 'hourly')
    const live = await eventually(async () => {
      const found = await ticking.get('hourly')
      return found.status?.schedule?.resumedAt !== undefined && found
    })
    const { managedFields = [] } = live.metadata as { managedFields?: { manager: string; time: string }[] }
    const change = managedFields.find(({ manager }) => manager === fieldManagers.cli)
    expect(Date.parse(live.status?.schedule?.resumedAt ?? '')).toBe(Date.parse(change?.time ?? ''))
  })

  it('[A-150] [A-165] resume changes nothing while a check fails', async () => {
    await startOperator(ticking.client, ticking.namespace)
    await ticking.ready()
    await ticking.add('hourly', '0 * * * *', { serviceAccountName: 'nobody' })
    const cli = cliAt(systemClock)
    await cli('pause', 'hourly')
    const { code, out, err } = await cli('resume', 'hourly', '-o', 'json')
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(/^error: not_ready: .*nobody does not exist/) })
    expect(JSON.parse(out)).toMatchObject({ error: { code: 'not_ready' } })
    expect((await ticking.get('hourly')).spec.paused).toBe(true)
  })

  it('[A-151] resume changes nothing while nobody has looked', async () => {
    await ticking.add('hourly', '0 * * * *', { paused: true })
    expect(await cliAt(systemClock)('resume', 'hourly')).toMatchObject({
      code: 1,
      err: expect.stringContaining('is the operator running?'),
    })
    expect((await ticking.get('hourly')).spec.paused).toBe(true)
  })

  it('[A-179] [A-553] a change of the spec since it was read is not overwritten; one of the status is no such change', async () => {
    const seen = await ticking.add('hourly', '0 * * * *')
    const cluster = { client: admin, namespace: ticking.namespace }
    const pause = () => ({ spec: { paused: true } })
    const { apiVersion, kind, metadata } = seen
    await admin.applyStatus(
      { apiVersion, kind, metadata, status: { state: 'Active' } },
      { fieldManager: fieldManagers.manager },
    )
    expect((await changeAsSeen(cluster, automation, seen, pause)).spec.paused).toBe(true)

    await ticking.change('hourly', { paused: false })
    const read = await ticking.get('hourly')
    await ticking.change('hourly', { jitterSeconds: null, serviceAccountName: 'other' })
    await expect(changeAsSeen(cluster, automation, read, pause)).rejects.toMatchObject({
      code: 'validation.conflict',
      exitCode: 1,
    })
    expect((await ticking.get('hourly')).spec).toMatchObject({ paused: false, serviceAccountName: 'other' })
  })
})

describe('completion', () => {
  it('offers the names of the cluster, in the namespace that is written', async () => {
    await ticking.add('hourly', '0 * * * *')
    await ticking.add('daily', '@daily')
    const flags = ['-n', ticking.namespace, '--kubeconfig', inject('kubeconfig')]
    const offered = async (...words: string[]) => (await runCli(['__complete', '--', ...flags, ...words])).out
    expect(await offered('pause', '')).toBe('daily\nhourly\n')
    expect(await offered('explain', 'h')).toBe('hourly\n')
    expect(await offered('undo', '')).toBe('owner\n')
  })
})
