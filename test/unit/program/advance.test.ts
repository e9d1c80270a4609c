import { describe, expect, it } from 'vitest'
import type { StepOutcome } from '../../../src/api/automation-firing.ts'
import type { Program } from '../../../src/api/program.ts'
import { childName } from '../../../src/lib/names.ts'
import { advance } from '../../../src/program/advance.ts'
import { programOfAgent } from '../../../src/program/agent-target.ts'
import type { AdvanceInput, ObservedSession } from '../../../src/program/input.ts'
import { contentOf, firingUid, inputOf, now, programOf, step, succeeded } from './world.ts'

const time = now.toISOString()
const nameOf = (id: string) => childName(firingUid, id, 0, 0)

function running(id: string, fields: Partial<StepOutcome> = {}): StepOutcome {
  return { kind: 'running', attempt: 0, session: nameOf(id), startedAt: '2026-11-30T11:00:00.000Z', ...fields }
}

function completed(id: string, output: string): StepOutcome {
  return { ...running(id), kind: 'completed', output: contentOf(output), settledAt: '2026-11-30T11:01:00.000Z' }
}

function kinds(program: Program, fields: Partial<AdvanceInput>): Record<string, string> {
  const { outcomes } = advance(inputOf(program, fields))
  return Object.fromEntries(
    Object.entries(outcomes).map(([id, { kind, arm, reason }]) => [id, [kind, arm, reason].filter(Boolean).join(' ')]),
  )
}

/** triage (agent) → verdict (parse) → urgent (decision) → escalate or log (agents) → report (agent). */
const triage = programOf(
  step({ id: 'triage', kind: 'agent', prompt: 'Triage {{event.title}}' }),
  step({ id: 'verdict', kind: 'parse_json', after: [{ id: 'triage' }], output: 'triage', schema: { type: 'object' } }),
  step({
    id: 'urgent',
    kind: 'decision',
    after: [{ id: 'verdict' }],
    bindings: { escalate: { source: 'verdict', pointer: '/escalate' } },
    predicates: [{ kind: 'equals', pointer: '/escalate', value: true }],
  }),
  step({ id: 'escalate', kind: 'agent', after: [{ id: 'urgent', arm: 'continue' }], output: 'triage' }),
  step({ id: 'log', kind: 'agent', after: [{ id: 'urgent', arm: 'otherwise' }] }),
  step({ id: 'report', kind: 'agent', after: [{ id: 'escalate' }, { id: 'log' }] }),
)

const verdictText = (escalate: boolean) => JSON.stringify({ escalate })
const parsedAs = (text: string) => new Map([['verdict', { kind: 'valid', text } as const]])

describe('a program that is held', () => {
  const held = { reason: 'AutomationPaused', message: 'Automation triage is paused.' }

  it('[A-172] starts no Session and waits, with everything that is recorded as it was', () => {
    const recorded = { triage: completed('triage', verdictText(true)) }
    const answer = advance(inputOf(triage, { recorded, held, parsed: parsedAs(verdictText(true)) }))
    expect(answer).toMatchObject({ sessions: [], waiting: held, current: 'escalate' })
    expect(answer.result).toBeUndefined()
    expect(answer.outcomes.triage).toEqual(recorded.triage)
    // What needs no pod has been decided, and is not decided again.
    expect(Object.keys(answer.outcomes)).toEqual(['triage', 'verdict', 'urgent', 'log'])
  })

  it('[A-173] goes on with the same Session as if it had never been held', () => {
    const recorded = { triage: completed('triage', verdictText(true)) }
    const parsed = parsedAs(verdictText(true))
    const { outcomes } = advance(inputOf(triage, { recorded, held, parsed }))
    const resumed = advance(inputOf(triage, { recorded: outcomes, parsed }))
    expect(resumed.sessions).toEqual(advance(inputOf(triage, { recorded, parsed })).sessions)
    expect(resumed.sessions.map(({ step, name }) => [step, name])).toEqual([['escalate', nameOf('escalate')]])
  })

  it('[A-170] [A-227] lets what is under way go on, and ends where nothing is left to start', () => {
    const recorded = { triage: running('triage') }
    expect(advance(inputOf(triage, { recorded, held }))).toMatchObject({ current: 'triage', outcomes: recorded })
    const last = { ...recorded, triage: completed('triage', '') }
    const short = programOf(step({ id: 'triage', kind: 'agent' }))
    expect(advance(inputOf(short, { recorded: last, held })).result).toBe('completed')
  })

  it('[A-289] while one branch waits, what runs on another keeps the whole from waiting', () => {
    const two = programOf(
      step({ id: 'left', kind: 'agent' }),
      step({ id: 'right', kind: 'agent' }),
      step({ id: 'after-left', kind: 'agent', after: [{ id: 'left' }] }),
    )
    const recorded = { left: completed('left', ''), right: running('right') }
    const answer = advance(inputOf(two, { recorded, held }))
    expect(answer.waiting).toBeUndefined()
    expect(answer.current).toBe('right, after-left')
  })
})

describe('advance', () => {
  it('[A-306] [A-297] starts the first agent and records it as running', () => {
    const answer = advance(inputOf(triage, { event: { title: 'Disk full' } }))
    expect(answer.sessions).toEqual([
      { step: 'triage', name: nameOf('triage'), agent: 'worker', prompt: contentOf('Triage Disk full'), missing: [] },
    ])
    expect(answer.outcomes).toEqual({
      triage: { kind: 'running', attempt: 0, session: nameOf('triage'), startedAt: time },
    })
    expect(answer).toMatchObject({ current: 'triage', load: [], parse: [], unseen: [] })
    expect(answer.result).toBeUndefined()
  })

  it('[A-389] reports what the prompt refers to and the event lacks', () => {
    expect(advance(inputOf(triage)).sessions).toMatchObject([{ missing: ['event.title'] }])
  })

  it('[A-282] [A-284] a Session that only exists moves nothing', () => {
    const sessions = new Map<string, ObservedSession>([['triage', { name: nameOf('triage'), phase: 'Running' }]])
    expect(kinds(triage, { recorded: { triage: running('triage') }, sessions })).toEqual({ triage: 'running' })
  })

  it('[A-379] asks for the parsing of the text, with its schema', () => {
    const sessions = new Map([['triage', succeeded(nameOf('triage'), verdictText(true))]])
    const answer = advance(inputOf(triage, { recorded: { triage: running('triage') }, sessions }))
    expect(answer.parse).toEqual([{ step: 'verdict', text: verdictText(true), schema: { type: 'object' } }])
    expect(answer.sessions).toEqual([])
  })

  it('takes consecutive steps without a pod in one answer, and starts what follows', () => {
    const sessions = new Map([['triage', succeeded(nameOf('triage'), verdictText(true))]])
    const recorded = { triage: running('triage') }
    const answer = advance(inputOf(triage, { recorded, sessions, parsed: parsedAs(verdictText(true)) }))
    expect(answer.outcomes).toEqual({
      triage: { ...running('triage'), kind: 'completed', output: contentOf(verdictText(true)), settledAt: time },
      verdict: { kind: 'completed', output: contentOf(verdictText(true)), startedAt: time, settledAt: time },
      urgent: { kind: 'completed', arm: 'continue', startedAt: time, settledAt: time },
      escalate: { kind: 'running', attempt: 0, session: nameOf('escalate'), startedAt: time },
      log: { kind: 'skipped', settledAt: time },
    })
    // With an output edge, that output is the whole message.
    expect(answer.sessions).toMatchObject([{ step: 'escalate', prompt: contentOf(verdictText(true)) }])
  })

  it('[A-340] the other arm runs otherwise, and a join of a taken and a skipped path runs', () => {
    const done = { triage: completed('triage', verdictText(false)) }
    const first = { recorded: done, parsed: parsedAs(verdictText(false)) }
    expect(kinds(triage, first)).toMatchObject({ urgent: 'completed otherwise', escalate: 'skipped', log: 'running' })
    const sessions = new Map([['log', succeeded(nameOf('log'), 'logged')]])
    expect(kinds(triage, { ...first, sessions })).toMatchObject({ log: 'completed', report: 'running' })
  })

  it('[A-338] a program ends completed with the output of its last agent', () => {
    const recorded = advance(
      inputOf(triage, { recorded: { triage: completed('triage', '{}') }, parsed: parsedAs(verdictText(false)) }),
    ).outcomes
    const settledSteps = { ...recorded, log: completed('log', 'logged'), report: completed('report', 'the report') }
    const answer = advance(inputOf(triage, { recorded: settledSteps }))
    expect(answer).toMatchObject({ result: 'completed', output: contentOf('the report'), current: '' })
  })

  it('an arm without a destination finishes: nothing else runs', () => {
    const program = programOf(
      step({
        id: 'gate',
        kind: 'decision',
        bindings: { n: { source: 'start', pointer: '/n' } },
        predicates: [{ kind: 'equals', pointer: '/n', value: 1 }],
      }),
      step({ id: 'next', kind: 'agent', after: [{ id: 'gate', arm: 'continue' }] }),
    )
    const answer = advance(inputOf(program, { event: { n: '1' } }))
    expect(answer).toMatchObject({
      result: 'completed',
      outcomes: { gate: { arm: 'otherwise' }, next: { kind: 'skipped' } },
    })
  })

  it('[A-380] a text that is no JSON fails before anything downstream runs', () => {
    const recorded = { triage: completed('triage', 'Sorry!') }
    const invalid = { kind: 'invalid', reason: 'output_invalid_json', message: 'not valid JSON' } as const
    const answer = advance(inputOf(triage, { recorded, parsed: new Map([['verdict', invalid]]) }))
    expect(answer).toMatchObject({
      result: 'failed',
      current: 'verdict',
      failure: { reason: 'OutputInvalidJson', message: 'Step verdict failed: not valid JSON' },
      sessions: [],
    })
    expect(Object.keys(answer.outcomes)).toEqual(['triage', 'verdict'])
    expect(answer.output).toBeUndefined()
  })

  it('[A-373] a missing bound field fails the step and is named', () => {
    const recorded = { triage: completed('triage', '{}') }
    const answer = advance(inputOf(triage, { recorded, parsed: parsedAs('{}') }))
    expect(answer.outcomes.urgent).toMatchObject({ kind: 'failed', reason: 'field_missing' })
    expect(answer.failure?.message).toBe(
      'Step urgent failed: input escalate reads /escalate of verdict, which is missing',
    )
  })

  it('[A-375] an agent output is a text: fields of it do not exist until it is parsed', () => {
    const program = programOf(
      step({ id: 'a', kind: 'agent' }),
      step({
        id: 'd',
        kind: 'decision',
        after: [{ id: 'a' }],
        output: 'a',
        predicates: [{ kind: 'equals', pointer: '/escalate', value: true }],
      }),
    )
    expect(kinds(program, { recorded: { a: completed('a', verdictText(true)) } })).toMatchObject({
      d: 'failed field_missing',
    })
  })

  it('a decision on a whole text', () => {
    const program = programOf(
      step({ id: 'a', kind: 'agent' }),
      step({
        id: 'd',
        kind: 'decision',
        after: [{ id: 'a' }],
        output: 'a',
        predicates: [{ kind: 'contains', pointer: '', value: 'ESCALATE' }],
      }),
    )
    expect(kinds(program, { recorded: { a: completed('a', 'please ESCALATE') } })).toMatchObject({
      d: 'completed continue',
    })
  })

  it('[A-337] a failure lets siblings finish, starts nothing, and has no result before', () => {
    const program = programOf(
      step({ id: 'a', kind: 'agent' }),
      step({ id: 'b', kind: 'agent' }),
      step({ id: 'after-b', kind: 'agent', after: [{ id: 'b' }] }),
    )
    const recorded = { a: running('a'), b: running('b') }
    const sessions = new Map<string, ObservedSession>([
      ['a', { name: nameOf('a'), phase: 'Failed', reason: 'OOMKilled', message: 'out of memory' }],
      ['b', { name: nameOf('b'), phase: 'Running' }],
    ])
    const pending = advance(inputOf(program, { recorded, sessions }))
    expect(pending.outcomes).toMatchObject({ a: { kind: 'failed', reason: 'oom_killed' }, b: { kind: 'running' } })
    expect(pending).toMatchObject({
      current: 'b',
      failure: { reason: 'OOMKilled', message: 'Step a failed: out of memory' },
    })
    expect(pending.result).toBeUndefined()

    sessions.set('b', succeeded(nameOf('b'), 'fine'))
    const ended = advance(inputOf(program, { recorded: pending.outcomes, sessions }))
    expect(ended).toMatchObject({
      result: 'failed',
      current: 'a',
      sessions: [],
      outcomes: { b: { kind: 'completed' } },
    })
    expect(ended.outcomes['after-b']).toBeUndefined()
  })

  it('[A-508] a step whose Session is Indeterminate stays running and nothing dependent runs', () => {
    const sessions = new Map<string, ObservedSession>([
      ['triage', { name: nameOf('triage'), phase: 'Indeterminate', message: 'the pod was lost' }],
    ])
    const answer = advance(inputOf(triage, { recorded: { triage: running('triage') }, sessions }))
    expect(answer.outcomes).toEqual({
      triage: running('triage', { reason: 'outcome_unknown', message: 'the pod was lost' }),
    })
    expect(answer.waiting).toEqual({ reason: 'OutcomeUnknown', message: 'Step triage waits: the pod was lost' })
    expect(answer.result).toBeUndefined()
  })

  it('waits only when everything that is under way waits', () => {
    const program = programOf(step({ id: 'a', kind: 'agent' }), step({ id: 'b', kind: 'agent' }))
    const recorded = { a: running('a'), b: running('b') }
    const waiting = { phase: 'Waiting', reason: 'QuotaExceeded', message: 'raise the quota' } as const
    const a = { name: nameOf('a'), ...waiting }
    const one = new Map<string, ObservedSession>([
      ['a', a],
      ['b', { name: nameOf('b'), phase: 'Running' }],
    ])
    expect(advance(inputOf(program, { recorded, sessions: one })).waiting).toBeUndefined()
    const both = new Map<string, ObservedSession>([
      ['a', a],
      ['b', { name: nameOf('b'), ...waiting }],
    ])
    expect(advance(inputOf(program, { recorded, sessions: both })).waiting).toMatchObject({ reason: 'QuotaExceeded' })
  })

  it('[A-301] a Session that was created before a crash is adopted, not created again', () => {
    const sessions = new Map([['triage', succeeded(nameOf('triage'), 'x')]])
    expect(kinds(triage, { sessions })).toMatchObject({ triage: 'completed' })
    expect(advance(inputOf(triage, { sessions })).sessions).toEqual([])
  })

  it('a Session that is not to be seen is looked for; only one that is gone fails its step', () => {
    const recorded = { triage: running('triage') }
    const unsure = advance(inputOf(triage, { recorded }))
    expect(unsure).toMatchObject({ unseen: ['triage'], outcomes: recorded, sessions: [] })
    const gone = advance(inputOf(triage, { recorded, gone: new Set(['triage']) }))
    expect(gone).toMatchObject({ result: 'failed', failure: { reason: 'SessionDeleted' }, sessions: [] })
  })

  it('[A-544] has no result while an evaluation is outstanding, though nothing is under way', () => {
    const bindings = { content: { source: 'start', pointer: '' } }
    const program = programOf(step({ id: 'p', kind: 'parse_json', bindings, schema: {} }))
    const answer = advance(inputOf(program, { event: '{}' }))
    expect(answer.parse).toHaveLength(1)
    expect(answer.result).toBeUndefined()
  })

  it('after a failure a step that was ready has no outcome: it neither started nor failed', () => {
    const program = programOf(step({ id: 'a', kind: 'agent' }), step({ id: 'b', kind: 'agent' }))
    const sessions = new Map<string, ObservedSession>([['a', { name: nameOf('a'), phase: 'Failed' }]])
    const refusal = { reason: 'environment_missing', message: 'gone' } as const
    expect(kinds(program, { sessions, refusal })).toEqual({ a: 'failed session_failed' })
  })

  it('[A-163] refuses to start a Session without its Environment, and leaves running ones alone', () => {
    const refusal = { reason: 'environment_missing', message: 'Environment default was deleted' } as const
    expect(advance(inputOf(triage, { refusal }))).toMatchObject({
      result: 'failed',
      sessions: [],
      failure: { reason: 'EnvironmentMissing', message: 'Step triage failed: Environment default was deleted' },
    })
    const sessions = new Map<string, ObservedSession>([['triage', { name: nameOf('triage'), phase: 'Running' }]])
    expect(kinds(triage, { recorded: { triage: running('triage') }, sessions, refusal })).toEqual({ triage: 'running' })
  })

  it('[A-577] a message over 64 KiB fails its step, and the agents beside it do not start', () => {
    const program = programOf(
      step({ id: 'small', kind: 'agent' }),
      step({ id: 'large', kind: 'agent', prompt: '{{event}}{{event}}' }),
    )
    const answer = advance(inputOf(program, { event: 'x'.repeat(40_000) }))
    expect(answer).toMatchObject({ result: 'failed', sessions: [], failure: { reason: 'RenderedPromptTooLarge' } })
  })

  it('[A-385] hands bound values to an agent as JSON', () => {
    const program = programOf(
      step({
        id: 'a',
        kind: 'agent',
        bindings: {
          text: { source: 'start', pointer: '/t' },
          all: { source: 'start', pointer: '' },
        },
      }),
    )
    expect(advance(inputOf(program, { event: { t: 'x' } })).sessions).toMatchObject([
      { bindings: { text: contentOf('"x"'), all: contentOf('{"t":"x"}') } },
    ])
    expect(kinds(program, { event: {} })).toEqual({ a: 'failed field_missing' })
  })

  it('fetches a large output before it is read, and hands it over whole without', () => {
    const large = JSON.stringify({ escalate: true, filler: 'x'.repeat(9000) })
    const recorded = { triage: completed('triage', large) }
    const { digest } = contentOf(large)
    expect(advance(inputOf(triage, { recorded })).load).toEqual([digest])
    const contents = new Map([[digest, large]])
    expect(advance(inputOf(triage, { recorded, contents })).parse).toMatchObject([{ step: 'verdict', text: large }])
    const parsed = advance(inputOf(triage, { recorded, contents, parsed: parsedAs(large) }))
    expect(parsed.put).toEqual(new Map([[digest, large]]))
    expect(parsed.outcomes.verdict?.output).toEqual({ digest, size: large.length })
    expect(parsed.sessions).toMatchObject([{ step: 'escalate', prompt: { digest, size: large.length } }])
    expect(parsed.load).toEqual([])
  })

  it('outputs go to the store once 8 KiB are inline', () => {
    const program = programOf(step({ id: 'a', kind: 'agent' }), step({ id: 'b', kind: 'agent' }))
    const [one, two] = ['1'.repeat(5000), '2'.repeat(5000)]
    const sessions = new Map([
      ['a', succeeded(nameOf('a'), one)],
      ['b', succeeded(nameOf('b'), two)],
    ])
    const answer = advance(inputOf(program, { sessions }))
    expect(answer.outcomes.a?.output?.inline).toBe(one)
    expect(answer.outcomes.b?.output).toEqual(contentOf(two, false))
    expect([...answer.put.values()]).toEqual([two])
    expect(answer.output).toEqual(contentOf(two, false))
  })

  it('a trigger that did not fire is a path that is not taken', () => {
    const program = {
      ...programOf(
        step({ id: 'a', kind: 'agent', after: [{ id: 'start' }] }),
        step({ id: 'b', kind: 'agent', after: [{ id: 'hook' }] }),
        step({ id: 'c', kind: 'agent', after: [{ id: 'start' }, { id: 'hook' }] }),
      ),
      entries: [
        { id: 'start', kind: 'manual' as const },
        { id: 'hook', kind: 'webhook' as const },
      ],
    }
    expect(kinds(program, {})).toEqual({ a: 'running', b: 'skipped', c: 'running' })
    expect(kinds(program, { entry: 'hook' })).toEqual({ a: 'skipped', b: 'running', c: 'running' })
  })

  it('cancelled work alone makes a cancelled program', () => {
    const sessions = new Map<string, ObservedSession>([['triage', { name: nameOf('triage'), phase: 'Cancelled' }]])
    expect(advance(inputOf(triage, { sessions }))).toMatchObject({ result: 'cancelled' })
  })

  describe('that is cancelled', () => {
    const cancelled = 'wrong event'
    const twins = programOf(
      step({ id: 'a', kind: 'agent' }),
      step({ id: 'b', kind: 'agent' }),
      step({ id: 'after-a', kind: 'agent', after: [{ id: 'a' }] }),
    )
    const recorded = { a: running('a'), b: running('b') }
    const phases = (a: ObservedSession['phase'], b: ObservedSession['phase']) =>
      new Map<string, ObservedSession>([
        ['a', { name: nameOf('a'), phase: a }],
        ['b', { name: nameOf('b'), phase: b }],
      ])

    it('[A-290] starts nothing, and has what is under way cancelled', () => {
      const sessions = new Map([...phases('Succeeded', 'Running')])
      const answer = advance(inputOf(twins, { cancelled, recorded, sessions }))
      expect(answer).toMatchObject({ sessions: [], cancel: [nameOf('b')], current: 'b' })
      expect(answer.outcomes).toMatchObject({ a: { kind: 'completed' }, b: { kind: 'running' } })
      expect(answer.cancellation).toEqual({
        reason: 'Cancelling',
        message: 'It is being cancelled by request (wrong event); what is under way is told to end: b.',
      })
      expect(answer.result).toBeUndefined()
    })

    it('is cancelled once all of it has settled, and has no result before', () => {
      const answer = advance(inputOf(twins, { cancelled, recorded, sessions: phases('Succeeded', 'Cancelled') }))
      expect(answer).toMatchObject({ result: 'cancelled', cancel: [], cancellation: { reason: 'Cancelled' } })
      expect(answer.outcomes['after-a']).toBeUndefined()
      expect(advance(inputOf(twins, { cancelled }))).toMatchObject({ result: 'cancelled', outcomes: {}, sessions: [] })
    })

    it('[A-291] does not wait for what nobody can know, and names it', () => {
      const sessions = phases('Indeterminate', 'Cancelled')
      const answer = advance(inputOf(twins, { cancelled, recorded, sessions }))
      expect(answer.outcomes.a).toMatchObject({ kind: 'failed', reason: 'outcome_unknown' })
      expect(answer).toMatchObject({
        result: 'cancelled',
        cancellation: {
          message: 'It was cancelled by request (wrong event). What became of a is not known: look at what was done.',
        },
      })
      const gone = advance(inputOf(twins, { cancelled, recorded, gone: new Set(['a', 'b']) }))
      expect(gone).toMatchObject({ result: 'cancelled', outcomes: { a: { reason: 'session_deleted' } } })
    })

    it('what ended by itself before has its own result', () => {
      const failed = advance(inputOf(twins, { cancelled, recorded, sessions: phases('Failed', 'Cancelled') }))
      expect(failed).toMatchObject({ result: 'failed', current: 'a', failure: { reason: 'SessionFailed' } })
      const last = programOf(step({ id: 'a', kind: 'agent' }))
      const sessions = new Map([['a', succeeded(nameOf('a'), 'done')]])
      const done = advance(inputOf(last, { cancelled, recorded: { a: running('a') }, sessions }))
      expect(done).toMatchObject({ result: 'completed', output: contentOf('done') })
    })
  })

  it('[A-279] an agent target is a program of one step, whatever trigger fires', () => {
    const triggers = [
      { id: 'agent', kind: 'manual' as const },
      { id: 'nightly', kind: 'schedule' as const },
    ]
    const program = programOfAgent({ name: 'worker', includeEvent: true, timeoutSeconds: 60 }, triggers)
    for (const entry of ['agent', 'nightly']) {
      expect(advance(inputOf(program, { entry, event: [1] })).sessions).toMatchObject([
        { step: 'agent', agent: 'worker', prompt: contentOf('[1]'), timeoutSeconds: 60 },
      ])
    }
  })
})
