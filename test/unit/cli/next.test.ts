import { dump } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import type { AutomationSpec, AutomationStatus } from '../../../src/api/automation.ts'
import type { GraphDocument } from '../../../src/api/graph-document.ts'
import { nextOccurrences, renderNext } from '../../../src/cli/next-occurrences.ts'
import { countBeforeNamespace } from '../../../src/cli/schedule-commands.ts'
import { startOf } from '../../../src/schedule/jitter.ts'
import { anAutomation } from '../../kit/builders.ts'
import { runCli } from '../../kit/fake-io.ts'
import { changed, documentOf, edge, nodeOf, oneAgent, schedule, triageAndEscalate } from '../../kit/graph-documents.ts'
import { scheduleOf } from '../schedule/schedules.ts'

const now = new Date('2026-10-24T12:00:00Z')

function file(...documents: GraphDocument[]): string {
  return documents
    .map((spec, index) =>
      dump({ apiVersion: 'graphwright.dev/v1alpha1', kind: 'AutomationGraph', metadata: { name: `g${index}` }, spec }),
    )
    .join('---\n')
}

function next(text: string, ...args: string[]) {
  return runCli(['next', '-f', 'graph.yaml', ...args], { files: { 'graph.yaml': text }, now })
}

function daily(cron: string, timezone = 'Europe/Berlin'): GraphDocument {
  return documentOf(
    [schedule('tick', cron, timezone), { id: 'a', kind: 'agent', agent: 'a', prompt: 'Go.' }],
    [edge('starts', 'tick', 'a')],
  )
}

describe('next -f', () => {
  it('lists occurrences in the zone and in UTC, and marks where the clock changes', async () => {
    const { code, out, err } = await next(file(daily('30 2 * * *')), '-n', '3')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(`\n${out}`).toMatchInlineSnapshot(`
      "
      g0   30 2 * * * (Europe/Berlin)

      LOCAL (Europe/Berlin)    UTC                    CLOCK CHANGE
      2026-10-25T02:30+02:00   2026-10-25T00:30:00Z   repeated
      2026-10-26T02:30+01:00   2026-10-26T01:30:00Z   -
      2026-10-27T02:30+01:00   2026-10-27T01:30:00Z   -
      "
    `)
  })

  it('says what the policies of the graph do, as far as it is known without an Automation', async () => {
    const missedOccurrences = { policy: 'All', limit: 3 } as const
    const text = file({ ...daily('30 2 * * *'), jitterSeconds: 300, missedOccurrences })
    const { out } = await next(text)
    expect(out).toContain('Each starts less than 300 s later: how much is known once the Automation exists.')
    expect(out).toContain('Policies: missedOccurrences.policy All, missedOccurrences.limit 3')
    expect(out).not.toContain('STARTS')
    const data = JSON.parse((await next(text, '-o', 'json', '--count', '1')).out)
    expect(data).toMatchObject({ jitterSeconds: 300, missedOccurrences, occurrences: [{ startAt: null }] })
  })

  it('prints the same as data, in -o json and -o yaml', async () => {
    const answer = await next(file(daily('30 2 * * *')), '-o', 'json', '--count', '1')
    expect(JSON.parse(answer.out)).toEqual({
      name: 'g0',
      schedule: '30 2 * * * (Europe/Berlin)',
      timezone: 'Europe/Berlin',
      occurrences: [
        {
          occurrence: '2026-10-25T00:30:00.000Z',
          local: '2026-10-25T02:30+02:00',
          dst: 'repeated',
          startAt: '2026-10-25T00:30:00.000Z',
        },
      ],
      more: null,
      jitterSeconds: 0,
      missedOccurrences: null,
      held: [],
    })
    expect((await next(file(daily('30 2 * * *')), '-o', 'yaml')).out).toContain('dst: repeated')
  })

  it('keeps to the window, both ends included, and says how many more it has', async () => {
    const window = ['--from', '2026-12-01T00:00Z', '--to', '2026-12-02T01:00+01:00', '-o', 'json']
    const all = JSON.parse((await next(file(daily('0 * * * *', 'UTC')), ...window, '-n', '100')).out)
    expect(all.occurrences).toHaveLength(25)
    expect(all).toMatchObject({ more: 0, occurrences: { 0: { local: '2026-12-01T00:00+00:00' } } })
    const some = JSON.parse((await next(file(daily('0 * * * *', 'UTC')), ...window, '-n', '4')).out)
    expect(some.more).toBe(21)
  })

  it('[A-204] says that nothing is to come, and why', async () => {
    const { code, out } = await next(file(oneAgent()))
    expect({ code, out }).toEqual({
      code: 0,
      out: 'g0\ng0 has no schedule: it starts when it is fired.\n\nno pending occurrence\n',
    })
  })

  it('[A-561] a date is the one occurrence', async () => {
    const dated = changed(oneAgent(), (draft) => {
      nodeOf(draft, 'by-hand').trigger = { kind: 'schedule_once', at: '2026-12-01T17:00:00+01:00' }
    })
    const { occurrences } = JSON.parse((await next(file(dated), '-o', 'json')).out)
    expect(occurrences).toMatchObject([{ occurrence: '2026-12-01T16:00:00.000Z' }])
  })

  it('lists each graph of the file', async () => {
    const { out } = await next(file(triageAndEscalate(), daily('@daily')), '-o', 'json')
    expect(JSON.parse(out).map(({ name }: { name: string }) => name)).toEqual(['g0', 'g1'])
  })

  it('refuses a graph with errors, and names them', async () => {
    expect(await next(file(daily('0 0 30 2 *')))).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(
        /^error: rejected: g0 has errors, .*plan -f graph\.yaml: trigger_invalid: .*never due/,
      ),
    })
  })

  it.each([
    [['-n', '0'], '-n 0 is no number from 1'],
    [['--count', 'x'], '-n x is no number'],
    [['--from', 'tomorrow'], '--from tomorrow is no instant'],
    [['--to', '2026-12-01T09:00'], '--to 2026-12-01T09:00 is no instant'],
    [['name'], 'one of the two'],
  ])('%j is a usage error', async (args, message) => {
    expect(await next(file(oneAgent()), ...args)).toMatchObject({
      code: 2,
      err: expect.stringMatching(new RegExp(`^error: usage: .*${message}`)),
    })
  })

  it('takes now for an instant', async () => {
    expect(await next(file(daily('@daily')), '--from', 'now')).toMatchObject({ code: 0 })
  })
})

describe('-n', () => {
  it.each([
    ['next x -n 20', 'next x --count 20'],
    ['next -n20 x', 'next --count=20 x'],
    ['-n team next x -n 20', '-n team next x --count 20'],
    ['next x -n team', 'next x -n team'],
    ['-n 20 next x', '-n 20 next x'],
    ['runs next -n 20', 'runs next -n 20'],
    ['-o json next x -n 5', '-o json next x --count 5'],
    ['list -n 20', 'list -n 20'],
  ])('%s is %s', (written, meant) => {
    expect(countBeforeNamespace(written.split(' ')).join(' ')).toBe(meant)
  })
})

describe('next NAME', () => {
  const triggers: AutomationSpec['triggers'] = [{ id: 'tick', kind: 'schedule', cron: '@hourly', timezone: 'UTC' }]
  const answer = (spec: Partial<AutomationSpec>, status?: AutomationStatus, at = now) => {
    const live = anAutomation({ name: 'hourly', spec: { triggers, ...spec }, status })
    return nextOccurrences(
      { name: 'hourly', triggers: live.spec.triggers, policies: live.spec, live },
      { now: at, count: 2 },
    )
  }

  it('shows the start with its jitter, which is the one the operator takes', () => {
    const { occurrences } = answer({ jitterSeconds: 600 })
    const start = startOf(scheduleOf('@hourly'), new Date('2026-10-24T12:00:00Z'), 600, 'uid-of-hourly')
    expect(occurrences[0]).toMatchObject({ occurrence: '2026-10-24T12:00:00.000Z', startAt: start.toISOString() })
    expect(renderNext(answer({ jitterSeconds: 600 }))).toContain('STARTS')
  })

  it('one that waits for its jitter is still to come', () => {
    const nominal = new Date('2026-10-24T12:00:00Z')
    const start = startOf(scheduleOf('@hourly'), nominal, 3600, 'uid-of-hourly')
    const digest = `sha256:${'0'.repeat(64)}`
    const status = { schedule: { digest, changedAt: '2026-10-01T00:00:00.000Z', next: start.toISOString() } }
    const between = new Date(start.getTime() - 1)
    expect(answer({ jitterSeconds: 3600 }, status, between).occurrences[0]?.occurrence).toBe(nominal.toISOString())
    expect(answer({ jitterSeconds: 3600 }, undefined, between).occurrences[0]?.occurrence).toBe(
      '2026-10-24T13:00:00.000Z',
    )
  })

  it.each([
    ['paused', { paused: true }, undefined, 'hourly is paused: none of these starts before it is resumed.'],
    ['paused by itself', {}, { state: 'Paused' }, 'hourly has paused itself'],
    [
      'not ready',
      {},
      { state: 'NotReady', readiness: [{ check: 'agent', state: 'Failed', message: 'There is no Agent x.' }] },
      'hourly is not ready: There is no Agent x.',
    ],
  ] as const)('says that it is %s', (_title, spec, status, message) => {
    const found = answer(spec, structuredClone(status) as AutomationStatus | undefined)
    expect(found.occurrences).toHaveLength(2)
    expect(renderNext(found)).toContain(message)
  })

  const at = '2026-12-01T17:00:00.000Z'
  it.each([
    ['pending', at, 'Pending', [at]],
    ['pending and late [A-224]', '2026-10-01T00:00:00.000Z', 'Pending', ['2026-10-01T00:00:00.000Z']],
    ['consumed', at, 'Consumed', []],
    ['not in the future when it was chosen', at, 'NotFuture', []],
  ] as const)('[A-561] a date that is %s', (_title, date, phase, expected) => {
    const digest = `sha256:${'0'.repeat(64)}`
    const status = { schedule: { digest, changedAt: '2026-10-01T00:00:00.000Z', once: { at: date, phase } } }
    const found = answer({ triggers: [{ id: 'once', kind: 'schedule_once', at: date }] }, status)
    expect(found.occurrences.map(({ occurrence }) => occurrence)).toEqual(expected)
    if (expected.length === 0) expect(renderNext(found)).toContain('no pending occurrence')
  })
})
