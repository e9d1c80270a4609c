import type { AutomationTrigger } from '../api/automation.ts'
import type { Program, ProgramStep } from '../api/program.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { describeTrigger } from '../schedule/describe.ts'
import { describePredicates } from './predicate-text.ts'

type Step = DeepReadonly<ProgramStep>

interface Glyphs {
  readonly line: string
  readonly branch: string
  readonly last: string
  readonly arrow: string
}
const unicodeGlyphs: Glyphs = { line: '│', branch: '├─', last: '└─', arrow: '▶' }
const asciiGlyphs: Glyphs = { line: '|', branch: '|-', last: '`-', arrow: '->' }

/** Glyphs that the terminal can show: a locale that names another encoding gets ASCII. */
export function canShowUnicode(env: Readonly<Record<string, string | undefined>>): boolean {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || 'UTF-8'
  return /utf-?8/i.test(locale)
}

/** What leads on from a step: an arm, a step that is drawn below, or one that is drawn elsewhere. */
interface Branch {
  readonly arm?: 'continue' | 'otherwise'
  readonly step?: Step
  readonly drawnHere: boolean
}

/**
 * A program as a tree of lines. A step stands under the last of its predecessors, so that everything it waits for is
 * above it; the others point to it by name. Chains stay at one depth.
 */
export function drawProgram(
  program: DeepReadonly<Program>,
  triggers: DeepReadonly<AutomationTrigger[]>,
  unicode: boolean,
): string {
  const glyphs = unicode ? unicodeGlyphs : asciiGlyphs
  const drawing = new Drawing(program, glyphs)
  const starts = triggers.map((trigger) => {
    const first = program.steps.filter(({ after }) => after.some(({ id }) => id === trigger.id)).map(({ id }) => id)
    return `${trigger.id}  ${describeTrigger(trigger)} ${glyphs.arrow} ${first.join(', ')}`
  })
  return [...starts, '', ...drawing.roots()].join('\n')
}

class Drawing {
  readonly #steps: readonly Step[]
  readonly #position: ReadonlyMap<string, number>
  readonly #glyphs: Glyphs

  constructor(program: DeepReadonly<Program>, glyphs: Glyphs) {
    this.#steps = program.steps
    this.#position = new Map(program.steps.map(({ id }, index) => [id, index]))
    this.#glyphs = glyphs
  }

  /** The steps that wait for triggers alone, each with what follows. */
  roots(): string[] {
    const trees = this.#steps.filter((step) => this.#parent(step) === undefined).map((step) => this.#tree(step, ''))
    return trees.flatMap((tree, index) => (index === 0 ? tree : ['', ...tree]))
  }

  /** The predecessor under which a step is drawn: the last one, in the order of the program. */
  #parent(step: Step): string | undefined {
    const steps = step.after.map(({ id }) => id).filter((id) => this.#position.has(id))
    return steps.reduce<string | undefined>(
      (last, id) => (last === undefined || this.#at(id) > this.#at(last) ? id : last),
      undefined,
    )
  }

  #at(id: string): number {
    return this.#position.get(id) ?? -1
  }

  #branches(step: Step): Branch[] {
    const next = this.#steps.flatMap((other) =>
      other.after
        .filter(({ id }) => id === step.id)
        .map(({ arm }) => ({ step: other, drawnHere: this.#parent(other) === step.id, ...(arm && { arm }) })),
    )
    if (step.kind !== 'decision') return next
    return (['continue', 'otherwise'] as const).flatMap((arm): Branch[] => {
      const taken = next.filter((branch) => branch.arm === arm)
      return taken.length === 0 ? [{ arm, drawnHere: true }] : taken
    })
  }

  /** Lines of a step and of what is drawn under it; the first line carries no prefix. */
  #tree(step: Step, prefix: string, drawn = new Set<string>()): string[] {
    drawn.add(step.id)
    const branches = this.#branches(step)
    const [only] = branches
    if (branches.length === 1 && only?.step !== undefined && only.drawnHere) {
      return [this.#label(step), prefix + this.#glyphs.line, ...this.#continued(only.step, prefix, drawn)]
    }
    const lines = [this.#label(step)]
    for (const [index, branch] of branches.entries()) {
      const isLast = index === branches.length - 1
      const inner = `${prefix}${isLast ? ' ' : this.#glyphs.line}    `
      const [first = '', ...rest] = this.#branchLines(branch, inner, drawn)
      lines.push(`${prefix}${isLast ? this.#glyphs.last : this.#glyphs.branch} ${first}`, ...rest)
    }
    return lines
  }

  #continued(step: Step, prefix: string, drawn: Set<string>): string[] {
    const [first = '', ...rest] = this.#tree(step, prefix, drawn)
    return [prefix + first, ...rest]
  }

  #branchLines({ arm, step, drawnHere }: Branch, prefix: string, drawn: Set<string>): string[] {
    const lead = arm === undefined ? '' : `${arm} ${this.#glyphs.arrow} `
    if (step === undefined) return [`${lead}finish`]
    if (!drawnHere || drawn.has(step.id)) return [`${lead || `${this.#glyphs.arrow} `}${step.id}`]
    const [first = '', ...rest] = this.#tree(step, prefix, drawn)
    return [lead + first, ...rest]
  }

  #label(step: Step): string {
    const waits = step.after.map(({ id }) => id).filter((id) => this.#position.has(id))
    const joined = new Set(waits).size > 1 ? `  (waits for ${[...new Set(waits)].join(', ')})` : ''
    return `${step.id}  ${describeStep(step)}${joined}`
  }
}

/** What a step does, in words. */
export function describeStep(step: Step): string {
  switch (step.kind) {
    case 'agent':
      return `agent ${step.agent}${step.output === undefined ? '' : `, reads the output of ${step.output}`}`
    case 'parse_json':
      return `parses the JSON of ${step.bindings?.content?.source ?? step.output}`
    case 'decision':
      return `decides: ${describePredicates(step.predicates ?? [])}`
  }
}
