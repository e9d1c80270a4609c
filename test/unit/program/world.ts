import type { StepOutcome } from '../../../src/api/automation-firing.ts'
import type { Content } from '../../../src/api/fields.ts'
import type { Program, ProgramStep } from '../../../src/api/program.ts'
import { digestBytes } from '../../../src/lib/digest.ts'
import { canonicalJson, type ReadonlyJson } from '../../../src/lib/json.ts'
import { deepFreeze } from '../../../src/lib/readonly.ts'
import { type Advance, advance } from '../../../src/program/advance.ts'
import type { AdvanceInput, ObservedSession, ParseResult } from '../../../src/program/input.ts'

export const now = new Date('2026-11-30T12:00:00Z')
export const firingUid = 'c0ffee'

/** A step, with what a test does not care about filled in. */
export function step(fields: Partial<ProgramStep> & Pick<ProgramStep, 'id' | 'kind'>): ProgramStep {
  return { after: [{ id: 'start' }], ...(fields.kind === 'agent' && { agent: 'worker', prompt: 'go' }), ...fields }
}

export function programOf(...steps: ProgramStep[]): Program {
  return { entries: [{ id: 'start', kind: 'manual' }], steps }
}

export function inputOf(program: Program, fields: Partial<AdvanceInput> = {}): AdvanceInput {
  return deepFreeze<unknown>({
    program,
    entry: 'start',
    event: undefined,
    firingUid,
    recorded: {},
    sessions: new Map(),
    gone: new Set<string>(),
    parsed: new Map(),
    contents: new Map(),
    now,
    ...fields,
  }) as AdvanceInput
}

export function contentOf(text: string, inline = Buffer.byteLength(text) <= 8192): Content {
  return { ...(inline && { inline: text }), digest: digestBytes(text), size: Buffer.byteLength(text) }
}

export function succeeded(name: string, output: string): ObservedSession {
  return { name, phase: 'Succeeded', output: contentOf(output) }
}

/** A small cluster: Sessions that end as the test says, a content store, and the recorded outcomes of one firing. */
export class World {
  readonly store = new Map<string, string>()
  readonly sessions = new Map<string, ObservedSession>()
  readonly program: Program
  recorded: Record<string, StepOutcome> = {}
  /** Why the program is to end; undefined while it is not. */
  cancelled: string | undefined
  readonly #event: ReadonlyJson | undefined
  readonly #endOf: (step: string) => Omit<ObservedSession, 'name'>
  readonly #asked = new Set<string>()
  #time = now.getTime()

  constructor(program: Program, endOf: (step: string) => Omit<ObservedSession, 'name'>, event?: ReadonlyJson) {
    this.program = program
    this.#endOf = endOf
    this.#event = event
  }

  get running(): string[] {
    return [...this.sessions].filter(([, { phase }]) => phase === undefined).map(([id]) => id)
  }

  /** One pass of the reconciler: fetches and evaluates until the answer counts. Changes nothing in the world. */
  look(): Advance {
    const parsed = new Map<string, ParseResult>()
    const contents = new Map<string, string>()
    for (;;) {
      const input = inputOf(this.program, {
        event: this.#event,
        recorded: structuredClone(this.recorded),
        sessions: new Map(this.sessions),
        parsed,
        contents,
        now: new Date(this.#time),
        cancelled: this.cancelled,
      })
      const answer = advance(input)
      if (answer.load.length === 0 && answer.parse.length === 0) return answer
      for (const digest of answer.load) {
        const text = this.store.get(digest)
        if (text === undefined || contents.has(digest)) throw new Error(`asked for ${digest} in vain`)
        contents.set(digest, text)
      }
      for (const { step: id, text } of answer.parse) {
        if (parsed.has(id)) throw new Error(`${id} is to be parsed twice`)
        parsed.set(id, parse(text))
      }
    }
  }

  /** Does what an answer wants, in the order of the executor. A crash may keep the outcomes from being recorded. */
  carryOut(answer: Advance, crash: 'none' | 'after create' = 'none'): void {
    for (const [digest, text] of answer.put) this.store.set(digest, text)
    for (const { step: id, name } of answer.sessions) {
      const there = this.sessions.get(id)
      if (there !== undefined && there.name !== name) throw new Error(`${id} has two Sessions`)
      if (there === undefined) this.sessions.set(id, { name })
    }
    for (const name of answer.cancel) this.#asked.add(name)
    if (crash === 'none') this.recorded = answer.outcomes
    this.#time += 1000
  }

  /** The Session of a step ends. */
  settle(id: string): void {
    const session = this.sessions.get(id)
    const isAsked = session !== undefined && this.#asked.has(session.name)
    const end: Omit<ObservedSession, 'name'> = isAsked ? { phase: 'Cancelled' } : this.#endOf(id)
    const { output } = end
    // What is not inline the gateway has stored.
    if (session === undefined) throw new Error(`${id} has no Session`)
    if (output !== undefined && output.inline === undefined && !this.store.has(output.digest)) {
      throw new Error('store the text first')
    }
    this.sessions.set(id, { ...session, ...end })
  }
}

function parse(text: string): ParseResult {
  try {
    return { kind: 'valid', text: canonicalJson(JSON.parse(text)) }
  } catch {
    return { kind: 'invalid', reason: 'output_invalid_json', message: 'not valid JSON' }
  }
}

/** Outcomes without what depends on when things happened. */
export function timeless(outcomes: Readonly<Record<string, StepOutcome>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(outcomes)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([id, { startedAt, settledAt, output, ...rest }]) => [id, { ...rest, output: output?.digest }]),
  )
}
