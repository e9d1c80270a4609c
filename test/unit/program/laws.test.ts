import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { StepOutcome } from '../../../src/api/automation-firing.ts'
import type { Program, ProgramStep } from '../../../src/api/program.ts'
import type { Advance } from '../../../src/program/advance.ts'
import { contentOf, timeless, World } from './world.ts'

interface Scenario {
  readonly program: Program
  /** What each agent answers; `failure` makes its Session fail. */
  readonly answers: Record<string, { readonly text: string; readonly ends: 'well' | 'failure' | 'indeterminate' }>
}

const terminal = ['completed', 'failed', 'skipped']

/** Texts that agents answer: JSON and not JSON, small and larger than a resource may hold. */
const answerText = fc.oneof(
  { weight: 6, arbitrary: fc.boolean().map((escalate) => JSON.stringify({ escalate })) },
  { weight: 1, arbitrary: fc.constant(JSON.stringify({ escalate: true, filler: 'x'.repeat(9000) })) },
  { weight: 1, arbitrary: fc.constant(JSON.stringify({ escalate: false, filler: 'é'.repeat(3000) })) },
)

type Ends = 'well' | 'failure' | 'indeterminate'

/** Programs with branches, joins and chains, over two entries of which one fires. */
function scenarios(ends: fc.Arbitrary<Ends>, text: fc.Arbitrary<string>): fc.Arbitrary<Scenario> {
  const draft = fc.record({
    kind: fc.constantFrom('agent', 'agent', 'parse_json', 'decision'),
    picks: fc.array(fc.nat(), { minLength: 1, maxLength: 3 }),
    arm: fc.boolean(),
    source: fc.nat(),
    text,
    ends,
    handOver: fc.boolean(),
  })
  return fc.array(draft, { minLength: 1, maxLength: 10 }).map((drafts) => {
    const steps: ProgramStep[] = []
    const answers: Scenario['answers'] = {}
    drafts.forEach((fields, index) => {
      const id = `s${index}`
      steps.push(buildStep(id, fields, steps))
      answers[id] = { text: fields.text, ends: fields.ends }
    })
    const program: Program = {
      entries: [
        { id: 'start', kind: 'manual' },
        { id: 'other', kind: 'schedule' },
      ],
      steps,
    }
    return { program, answers }
  })
}

interface Draft {
  readonly kind: string
  readonly picks: number[]
  readonly arm: boolean
  readonly source: number
  readonly handOver: boolean
}

function buildStep(id: string, draft: Draft, earlier: readonly ProgramStep[]): ProgramStep {
  const after = draft.picks.map((pick) => {
    const place = pick % (earlier.length + 2)
    const target = earlier[place]
    if (target === undefined) return { id: place === earlier.length ? 'start' : 'other' }
    return {
      id: target.id,
      ...(target.kind === 'decision' && ({ arm: draft.arm ? 'continue' : 'otherwise' } as const)),
    }
  })
  const sources = draft.kind === 'decision' ? 'parse_json' : 'agent'
  const producers = earlier.filter(({ kind }) => kind === sources)
  const producer = producers[draft.source % Math.max(1, producers.length)]?.id
  // A producer must have run: reading one makes it a predecessor too, without an alternative.
  const common = { id, after: producer === undefined ? after : [{ id: producer }] }
  if (draft.kind === 'agent' || producer === undefined) {
    const output = draft.handOver && producer !== undefined ? { output: producer } : { prompt: 'go' }
    return { ...common, kind: 'agent', agent: 'worker', ...output }
  }
  if (draft.kind === 'parse_json') return { ...common, kind: 'parse_json', output: producer, schema: {} }
  return {
    ...common,
    kind: 'decision',
    bindings: { v: { source: producer, pointer: '/escalate' } },
    predicates: [{ kind: 'equals', pointer: '/v', value: true }],
  }
}

function worldOf({ program, answers }: Scenario): World {
  const world = new World(program, (id) => {
    const answer = answers[id]
    if (answer?.ends === 'failure') return { phase: 'Failed', reason: 'CommandFailed', message: 'exit code 1' }
    if (answer?.ends === 'indeterminate') return { phase: 'Indeterminate' }
    return { phase: 'Succeeded', output: contentOf(answer?.text ?? '') }
  })
  for (const { text } of Object.values(answers)) world.store.set(contentOf(text).digest, text)
  return world
}

interface Choice {
  /** Which of the running Sessions settle before the next pass. */
  readonly settle: number
  readonly several: boolean
  readonly crash: boolean
}

const choices = fc.infiniteStream(
  fc.record({ settle: fc.nat(), several: fc.boolean(), crash: fc.boolean() }),
) as fc.Arbitrary<Iterable<Choice>>

/** Runs to the end in an order of the test's choosing; `watch` sees each answer with what was recorded before. */
function runToEnd(
  world: World,
  order: Iterable<Choice>,
  watch: (answer: Advance, before: Record<string, StepOutcome>) => void = () => {},
): Advance {
  const choice = order[Symbol.iterator]()
  for (let passes = 0; passes < 100; passes++) {
    const { settle, several, crash } = choice.next().value as Choice
    const before = world.recorded
    const answer = world.look()
    watch(answer, before)
    world.carryOut(answer, crash && passes < 50 ? 'after create' : 'none')
    if (answer.result !== undefined && world.recorded === answer.outcomes) return answer
    const { running } = world
    if (running.length === 0 && !crash && answer.result === undefined) return answer
    const picked = several ? running.filter((_, index) => (settle >> (index % 16)) % 2 === 0) : running
    const one = running[settle % Math.max(1, running.length)]
    for (const id of several ? picked : one === undefined ? [] : [one]) world.settle(id)
  }
  throw new Error('does not end')
}

const well = fc.constant<Ends>('well')
const mixed = fc.oneof(
  { weight: 6, arbitrary: well },
  { weight: 1, arbitrary: fc.constantFrom<Ends>('failure', 'indeterminate') },
)
const mixedText = fc.oneof({ weight: 8, arbitrary: answerText }, { weight: 1, arbitrary: fc.constant('no JSON') })
const runs = { numRuns: 300 }
/** With what the work of a cancelled program may end, a failure of its own apart. */
const givenUp = ['cancelled', 'outcome_unknown', 'session_deleted']

describe('laws of a running program', () => {
  it('[A-301] it is idempotent: looking again changes nothing and wants nothing new', () => {
    fc.assert(
      fc.property(scenarios(mixed, mixedText), choices, (scenario, order) => {
        const world = worldOf(scenario)
        runToEnd(world, order, (answer) => {
          const saved = world.recorded
          const twin = worldOf(scenario)
          for (const [id, session] of world.sessions) twin.sessions.set(id, session)
          twin.carryOut(answer)
          const again = twin.look()
          expect(again.outcomes).toEqual(answer.outcomes)
          expect(again.sessions).toEqual([])
          expect(again.put.size).toBe(0)
          expect(again.result).toBe(answer.result)
          expect(world.recorded).toBe(saved)
        })
      }),
      runs,
    )
  })

  it('a terminal outcome never changes', () => {
    fc.assert(
      fc.property(scenarios(mixed, mixedText), choices, (scenario, order) => {
        runToEnd(worldOf(scenario), order, (answer, before) => {
          for (const [id, outcome] of Object.entries(before)) {
            if (terminal.includes(outcome.kind)) expect(answer.outcomes[id]).toEqual(outcome)
            else expect(answer.outcomes[id]).toBeDefined()
          }
        })
      }),
      runs,
    )
  })

  it('[A-331] order and crashes do not matter where nothing fails', () => {
    fc.assert(
      fc.property(scenarios(well, answerText), choices, choices, (scenario, one, other) => {
        const first = runToEnd(worldOf(scenario), one)
        const second = runToEnd(worldOf(scenario), other)
        expect(first.result).toBe('completed')
        expect(timeless(first.outcomes)).toEqual(timeless(second.outcomes))
        expect(first.output?.digest).toBe(second.output?.digest)
      }),
      runs,
    )
  })

  it('where something fails, the result and what settled in both orders are the same', () => {
    const failing = fc.oneof({ weight: 4, arbitrary: well }, { weight: 1, arbitrary: fc.constant<Ends>('failure') })
    fc.assert(
      fc.property(scenarios(failing, mixedText), choices, choices, (scenario, one, other) => {
        const first = runToEnd(worldOf(scenario), one)
        const second = runToEnd(worldOf(scenario), other)
        expect(first.result).toBeDefined()
        expect(first.result).toBe(second.result)
        const [left, right] = [timeless(first.outcomes), timeless(second.outcomes)]
        for (const id of Object.keys(left)) if (id in right) expect(left[id]).toEqual(right[id])
      }),
      runs,
    )
  })

  it('[A-544] a result is there exactly when nothing is pending', () => {
    fc.assert(
      fc.property(scenarios(mixed, mixedText), choices, (scenario, order) => {
        runToEnd(worldOf(scenario), order, ({ outcomes, result }) => {
          const kinds = Object.values(outcomes).map(({ kind }) => kind)
          const underWay = kinds.some((kind) => !terminal.includes(kind))
          const failed = kinds.includes('failed')
          const untouched = kinds.length < scenario.program.steps.length
          expect(result !== undefined).toBe(!underWay && (failed || !untouched))
          if (result !== undefined) expect(result).toBe(failed ? 'failed' : 'completed')
        })
      }),
      runs,
    )
  })

  it('[A-283] nothing starts while a predecessor is unsettled, nor after a failure', () => {
    fc.assert(
      fc.property(scenarios(mixed, mixedText), choices, (scenario, order) => {
        const world = worldOf(scenario)
        runToEnd(world, order, ({ outcomes, sessions }) => {
          const failed = Object.values(outcomes).some(({ kind }) => kind === 'failed')
          if (failed) expect(sessions).toEqual([])
          const started = new Set(sessions.map(({ step }) => step))
          for (const { id, kind, after } of scenario.program.steps) {
            const evaluated = kind !== 'agent' && outcomes[id] !== undefined
            if (!started.has(id) && !evaluated) continue
            const earlier = after.filter((predecessor) => predecessor.id.startsWith('s') && predecessor.id !== 'start')
            for (const predecessor of earlier) expect(terminal).toContain(outcomes[predecessor.id]?.kind)
          }
        })
      }),
      runs,
    )
  })

  it('[A-290] [A-292] whenever it is cancelled, nothing more starts, and it ends when what is under way has ended', () => {
    fc.assert(
      fc.property(scenarios(mixed, mixedText), choices, fc.nat(8), (scenario, order, passes) => {
        const world = worldOf(scenario)
        let seen = 0
        const watch = (answer: Advance, before: Record<string, StepOutcome>) => {
          if (world.cancelled !== undefined) {
            expect([answer.sessions, answer.load, answer.parse]).toEqual([[], [], []])
            for (const id of Object.keys(answer.outcomes))
              expect([...world.sessions.keys(), ...Object.keys(before)]).toContain(id)
            const open = Object.values(answer.outcomes).filter(({ kind }) => !terminal.includes(kind))
            expect(answer.cancel).toEqual(expect.arrayContaining(open.map(({ session }) => session)))
            expect(answer.result === undefined).toBe(open.length > 0)
          } else expect(answer.cancel).toEqual([])
          for (const [id, outcome] of Object.entries(before)) {
            if (terminal.includes(outcome.kind)) expect(answer.outcomes[id]).toEqual(outcome)
          }
          seen += 1
          if (seen > passes) world.cancelled = 'enough'
        }
        const first = runToEnd(world, order, watch)
        if (world.cancelled === undefined) return
        const end = first.result === undefined ? runToEnd(world, order, watch) : first
        const outcomes = Object.values(end.outcomes)
        const hasFailed = outcomes.some(({ kind, reason }) => kind === 'failed' && !givenUp.includes(reason ?? ''))
        const isComplete =
          outcomes.length === scenario.program.steps.length && !outcomes.some(({ kind }) => kind === 'failed')
        expect(end.result).toBe(hasFailed ? 'failed' : isComplete ? 'completed' : 'cancelled')
        world.carryOut(end)
        expect(world.look()).toMatchObject({ outcomes: end.outcomes, result: end.result, sessions: [], cancel: [] })
      }),
      runs,
    )
  })

  it('a firing never holds more than 8 KiB of outputs inline, and what it does not hold is stored', () => {
    fc.assert(
      fc.property(scenarios(mixed, mixedText), choices, (scenario, order) => {
        const world = worldOf(scenario)
        const end = runToEnd(world, order, (answer) => {
          const contents = [...Object.values(answer.outcomes).map(({ output }) => output), answer.output]
          const inline = contents.map((content) => content?.inline ?? '').join('')
          expect(Buffer.byteLength(inline)).toBeLessThanOrEqual(8192)
        })
        for (const { output } of Object.values(end.outcomes)) {
          if (output !== undefined && output.inline === undefined) expect(world.store.has(output.digest)).toBe(true)
        }
      }),
      runs,
    )
  })
})
