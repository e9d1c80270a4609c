import { describe, expect, it } from 'vitest'
import type { AutomationFiringStatus } from '../../../src/api/automation-firing.ts'
import { checkApprovable, settledPlan } from '../../../src/cli/approve.ts'
import { unknownName } from '../../../src/cli/cluster.ts'
import { readEvent } from '../../../src/cli/event.ts'
import { type Io, refusal } from '../../../src/cli/io.ts'
import { renderAutomations } from '../../../src/cli/list.ts'
import { explain } from '../../../src/cli/problems.ts'
import { firingData, programReceipt, renderFiring, renderOutput } from '../../../src/cli/receipt.ts'
import { entryOf } from '../../../src/cli/run.ts'
import { renderFirings } from '../../../src/cli/runs.ts'
import type { OrderedFiring } from '../../../src/cli/step-order.ts'
import { renderTrace } from '../../../src/cli/trace.ts'
import { missingEvidence, traceData } from '../../../src/cli/trace-data.ts'
import { KubeConfigError } from '../../../src/kube/config.ts'
import { KubeError } from '../../../src/kube/error.ts'
import { systemClock } from '../../../src/runtime/clock.ts'
import { aFiring, aGraph, anAutomation, aPlan, aProgram, aRun, aSession, inlineContent } from '../../kit/builders.ts'
import { reconcileContext } from '../../kit/reconcile-context.ts'

const now = new Date('2026-11-30T12:10:00Z')

const failed: AutomationFiringStatus = {
  phase: 'Failed',
  reason: 'OutputInvalidJson',
  message: 'Step parse failed: not valid JSON',
  step: 'parse',
  result: 'failed',
  steps: {
    parse: {
      kind: 'failed',
      reason: 'output_invalid_json',
      message: 'not valid JSON',
      settledAt: '2026-11-30T12:00:09Z',
    },
    triage: {
      kind: 'completed',
      attempt: 0,
      session: 'triage-session',
      startedAt: '2026-11-30T12:00:01Z',
      settledAt: '2026-11-30T12:00:08Z',
    },
  },
  duration: '9s',
}

const pending: AutomationFiringStatus = {
  phase: 'Running',
  steps: { a: { kind: 'failed', reason: 'some_new_code' }, b: { kind: 'running', startedAt: '2026-11-30T12:00:01Z' } },
}

describe('receipts', () => {
  it('[A-337] [A-544] the result is null while pending, even where a branch has failed', () => {
    expect(programReceipt(unordered({ status: pending }))).toMatchObject({ state: 'pending', result: null })
    expect(programReceipt(unordered())).toEqual({ state: 'pending', result: null, steps: [] })
  })

  it('[A-543] steps stand in the order of the program, with those it does not know at the end', () => {
    const steps = { a: { kind: 'completed' }, b: { kind: 'completed' }, c: { kind: 'skipped' } } as const
    const firing = aFiring({ status: { phase: 'Running', steps } })
    const ids = (order: readonly string[]) => programReceipt({ firing, order }).steps.map(({ id }) => id)
    expect(ids(['c', 'b', 'a'])).toEqual(['c', 'b', 'a'])
    expect(ids(['c'])).toEqual(['c', 'a', 'b'])
  })

  it('[A-543] a settled firing has a result and, without its program, its steps in the order in which they started', () => {
    const { state, result, steps } = programReceipt(unordered({ status: failed }))
    expect({ state, result, steps: steps.map(({ id, kind }) => [id, kind]) }).toEqual({
      state: 'settled',
      result: 'failed',
      steps: [
        ['triage', 'completed'],
        ['parse', 'failed'],
      ],
    })
  })

  it.each([
    ['Succeeded', 'completed'],
    ['Cancelled', 'cancelled'],
    ['Failed', 'failed'],
    ['Skipped', null],
  ] as const)('a firing that ended %s without a program has the result %s', (phase, result) => {
    expect(programReceipt(unordered({ status: { phase } }))).toEqual({ state: 'settled', result, steps: [] })
  })

  it('[A-543] is complete as data', () => {
    expect(firingData(unordered())).toEqual({
      firing: 'triage-manual-1',
      namespace: 'default',
      uid: 'uid-of-triage-manual-1',
      automation: 'triage',
      trigger: 'manual',
      entry: null,
      requestedBy: 'jane',
      createdAt: '2026-11-30T12:00:00Z',
      startedAt: null,
      settledAt: null,
      phase: 'Pending',
      reason: null,
      message: null,
      program: { state: 'pending', result: null, steps: [] },
      output: null,
    })
  })

  it('[A-532] [A-541] shows state and reasons, unknown codes as they are', () => {
    expect(`\n${renderFiring(unordered({ status: failed }))}\n`).toMatchInlineSnapshot(`
      "
      Firing       triage-manual-1
      Automation   triage
      Phase        Failed (OutputInvalidJson)
      Message      Step parse failed: not valid JSON
      Result       failed
      Duration     9s

      STEP     OUTCOME     ARM OR REASON         ATTEMPT   DURATION   SESSION
      triage   completed   -                     1         7s         triage-session
      parse    failed      output_invalid_json   -         -          -
      "
    `)
    expect(renderFiring(unordered({ status: pending }))).toContain('some_new_code')
  })

  it('shows a large output by its digest and size', () => {
    expect(renderOutput(inlineContent('hello'))).toBe('Output (5 bytes):\nhello')
    const { digest } = inlineContent('x')
    expect(renderOutput({ digest, size: 9000 })).toContain(`9000 bytes, kept as ${digest}`)
    expect(renderOutput(undefined)).toBe('')
  })
})

describe('runs', () => {
  it('[A-541] [A-552] lists firings, with the reasons of failed steps', () => {
    const firings = [unordered({ name: 'triage-manual-2', status: failed }), unordered()]
    expect(`\n${renderFirings(firings, now)}\n`).toMatchInlineSnapshot(`
      "
      FIRING            TRIGGER   PHASE     STEP    REASON              AGE   DURATION
      triage-manual-2   manual    Failed    parse   OutputInvalidJson   10m   9s
      triage-manual-1   manual    Pending   -       -                   10m   -

      triage-manual-2: parse failed output_invalid_json: not valid JSON
      "
    `)
  })
})

describe('list', () => {
  it('[A-547] shows name, state, trigger in words and last run', () => {
    const automations = [
      anAutomation({
        status: {
          state: 'Active',
          next: '2026-12-01T08:00:00.000Z',
          last: { firing: 'x', result: 'Succeeded', time: '2026-11-30T12:05:00Z' },
        },
      }),
      anAutomation({
        name: 'nightly',
        spec: { triggers: [{ id: 'clock', kind: 'schedule', cron: '0 2 * * *', timezone: 'UTC' }] },
        status: {
          state: 'NotReady',
          readiness: [{ check: 'Agent', state: 'Failed', message: 'There is no Agent x; create it.' }],
        },
      }),
    ]
    expect(`\n${renderAutomations(automations, false, now)}\n`).toMatchInlineSnapshot(`
      "
      NAME      STATE      TRIGGER           NEXT                       LAST RUN
      triage    Active     manual            2026-12-01T08:00:00.000Z   Succeeded 5m ago
      nightly   NotReady   0 2 * * * (UTC)   -                          -
      nightly is not ready: There is no Agent x; create it.
      "
    `)
    expect(renderAutomations(automations, true, now)).toContain('NAMESPACE')
  })
})

describe('trace', () => {
  const program = aProgram()
  const settled = aFiring({
    status: {
      ...failed,
      admission: {
        automationUID: 'u',
        automationGeneration: 1,
        entry: 'by-hand',
        program: { name: program.metadata.name, digest: program.spec.digest },
        pins: [],
        environment: { name: 'default', uid: 'u', generation: 1, spec: aSession().spec.environment.spec },
        principal: { serviceAccountName: 'triage', uid: 'u' },
        admittedAt: '2026-11-30T12:00:00Z',
      },
    },
  })
  const run = aRun({
    status: { phase: 'Succeeded', exitCode: 0, incarnation: { number: 0, job: 'job-1', pod: 'pod-1', node: 'node-1' } },
  })
  const whole = { firing: settled, program, sessions: [aSession()], runs: [run] }

  it('[A-538] [A-539] shows state, result, attempts, outcomes and completeness', () => {
    expect(`\n${renderTrace(whole)}\n`).toMatchInlineSnapshot(`
      "
      Firing       triage-manual-1
      Automation   triage
      Trigger      manual, by by-hand, requested by jane
      Acts as      triage
      Phase        Failed (OutputInvalidJson)
      Message      Step parse failed: not valid JSON
      Program      settled: failed
      Duration     9s
      Evidence     complete

      STEP     OUTCOME     ARM OR REASON         ATTEMPT   DURATION   SESSION
      triage   completed   -                     1         7s         triage-session
      parse    failed      output_invalid_json   -         -          -

      RUN          STEP     PHASE       REASON   EXIT   POD     NODE
      triage-run   triage   Succeeded   -        0      pod-1   node-1
      "
    `)
  })

  it('[A-526] [A-535] tells pending from settled failure as data', () => {
    expect(traceData(whole)).toMatchObject({
      firing: 'triage-manual-1',
      steps: { state: 'settled', result: 'failed', outcomes: [{ id: 'triage' }, { id: 'parse', kind: 'failed' }] },
      sessions: [{ name: 'triage-session', step: 'triage' }],
      runs: [{ name: 'triage-run', phase: 'Succeeded', exitCode: 0 }],
      evidence: { complete: true, missing: [] },
    })
    expect(traceData({ ...whole, firing: aFiring({ status: pending }) })).toMatchObject({
      steps: { state: 'pending', result: null },
      evidence: { complete: false },
    })
  })

  it('[A-534] names what is gone', () => {
    expect(missingEvidence({ ...whole, program: undefined, sessions: [] })).toEqual([
      'the program triage-program is gone',
      'the Session triage-session of triage is gone',
    ])
    expect(missingEvidence({ ...whole, runs: [] })).toEqual(['no Run of the Session triage-session is left'])
  })
})

describe('run', () => {
  const clock = { id: 'clock', kind: 'schedule', cron: '0 2 * * *', timezone: 'UTC' } as const
  const once = { id: 'once', kind: 'schedule_once', at: '2027-01-01T00:00:00.000Z' } as const

  it('enters by what is asked, else by the manual trigger, else by the only one', () => {
    expect(entryOf([clock, { id: 'hand', kind: 'manual' }], undefined, 'x')).toBe('hand')
    expect(entryOf([clock], undefined, 'x')).toBe('clock')
    expect(entryOf([clock, once], 'once', 'x')).toBe('once')
  })

  it('lists the triggers where it cannot choose', () => {
    expect(() => entryOf([clock, once], undefined, 'x')).toThrow(
      'choose one by --trigger: clock (schedule), once (schedule_once)',
    )
    expect(() => entryOf([clock], 'hand', 'x')).toThrow('has no trigger hand; it has: clock (schedule)')
  })

  it.each([
    ['[A-548] inline JSON', '{"a": 1}', { a: 1 }],
    ['[A-565] a file', '@e.json', [true]],
    ['nothing', undefined, undefined],
  ])('reads %s', async (_title, argument, event) => {
    expect(await readEvent(argument, filesIo({ 'e.json': '[true]' }))).toEqual(event)
  })

  it.each([
    ['a missing file', '@none.json', 'cannot read the event file none.json'],
    ['no JSON', 'hello', 'write JSON, or @ and the path of a file'],
    ['a key twice', '{"a":1,"a":2}', 'twice'],
    ['an integer that would be rounded', '9007199254740993', 'would lose digits'],
    ['too much', `"${'x'.repeat(300_000)}"`, 'at most 262144'],
  ])('refuses %s in one line', async (_title, argument, message) => {
    await expect(readEvent(argument, { ...filesIo({}), clock: systemClock })).rejects.toThrow(message)
  })
})

describe('approve', () => {
  it('tells the first errors of a graph on its line, and how many more there are', async () => {
    const errors = ['a', 'b', 'c', 'd', 'e'].map((detail) => ({ code: 'node_unknown' as const, detail }))
    const graph = aGraph({ name: 'wrong', metadata: { generation: 1 }, status: { observedGeneration: 1, errors } })
    const cluster = { client: reconcileContext({ live: [graph] }).live, namespace: 'default' }
    await expect(settledPlan('wrong', cluster, { ...filesIo({}), clock: systemClock })).rejects.toMatchObject({
      code: 'rejected',
      message: expect.stringMatching(/correct it: node_unknown: a; node_unknown: b; node_unknown: c; and 2 more, as /),
    })
  })

  it.each([
    [
      'blocked',
      aPlan({ content: { blockers: [{ code: 'x', detail: 'there is no Environment' }] } }),
      'plan_blocked',
      'no Environment',
    ],
    ['stale', aPlan({ status: { phase: 'Stale', message: 'The Agent changed.' } }), 'plan_stale', 'The Agent changed.'],
    ['failed', aPlan({ status: { phase: 'Failed' } }), 'plan_failed', 'change the graph'],
  ])('refuses a %s plan with its reason', (_title, plan, code, reason) => {
    let error: unknown
    try {
      checkApprovable(plan)
    } catch (thrown) {
      error = thrown
    }
    expect(error).toMatchObject({ exitCode: 1, code, message: expect.stringContaining(reason) })
  })
})

describe('explain', () => {
  const { signal } = new AbortController()
  const kube = (status: number, message: string, reason = 'X') => new KubeError({ status, reason, message })

  it.each([
    [
      'an unreachable cluster',
      kube(0, 'cannot reach the API server at https://x: connection refused; is the cluster running?'),
      'unreachable',
      '--context',
    ],
    [
      'a forbidden user',
      kube(403, 'agents is forbidden: User "bob" cannot list resource'),
      'forbidden',
      'graphwright-edit',
    ],
    ['a policy', kube(403, 'denied request: approve as yourself'), 'forbidden', 'approve as yourself'],
    ['no credentials', kube(401, 'log in again'), 'unauthorized', 'log in again'],
    [
      'a cluster without the operator',
      kube(404, 'the server could not find the requested resource'),
      'not_installed',
      'install the operator',
    ],
    [
      'a cluster that knows no such group',
      kube(404, '404 NotFound', 'NotFound'),
      'not_installed',
      'install the operator',
    ],
    ['no kubeconfig', new KubeConfigError('found none'), 'kubeconfig', '--kubeconfig'],
    ['a mistake of ours', new TypeError('x is undefined'), 'internal', 'report'],
  ])('says of %s what to do next', (_title, error, code, advice) => {
    expect(explain(error, signal)).toMatchObject({ exitCode: 2, code, message: expect.stringContaining(advice) })
  })

  it('leaves refusals as they are, and knows interruption', () => {
    const error = refusal('validation.conflict', 'paused')
    expect(explain(error, signal)).toBe(error)
    expect(explain(new Error('aborted'), AbortSignal.abort())).toMatchObject({ exitCode: 130 })
  })
})

describe('unknownName', () => {
  it('offers what there is', () => {
    expect(unknownName('Automation', 'x', 'team', ['b', 'a'])).toBe(
      'there is no Automation x in the namespace team; there are: a, b',
    )
    expect(unknownName('Automation', 'x', 'team', [])).toContain('choose the namespace by -n')
  })
})

/** A firing whose program is gone. */
function unordered(given: Parameters<typeof aFiring>[0] = {}): OrderedFiring {
  return { firing: aFiring(given), order: [] }
}

function filesIo(files: Record<string, string>): Io {
  return {
    readFile: async (path: string) => {
      const text = files[path]
      if (text === undefined) throw new Error('ENOENT')
      return text
    },
  } as Io
}
