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

/** What leads on from a step: an arm that finishes has no step. */
interface Branch {
  readonly arm?: 'continue' | 'otherwise'
  readonly step?: Step
}

/**
 * A program as a tree of lines, each step once. A step stands under the predecessor that is drawn last, so that
 * everything it waits for is above it; the other predecessors point to it by name. Chains stay at one depth.
 */
export function drawProgram(
  program: DeepReadonly<Program>,
  triggers: DeepReadonly<AutomationTrigger[]>,
  unicode: boolean,
): string {
  const glyphs = unicode ? unicodeGlyphs : asciiGlyphs
  const starts = triggers.map((trigger) => {
    const first = program.steps.filter(({ after }) => after.some(({ id }) => id === trigger.id)).map(({ id }) => id)
    return `${trigger.id}  ${describeTrigger(trigger)} ${glyphs.arrow} ${first.join(', ')}`
  })
  return [...starts, '', ...new Drawing(program.steps, glyphs).roots()].join('\n')
}

class Drawing {
  readonly #steps: readonly Step[]
  readonly #ids: ReadonlySet<string>
  readonly #glyphs: Glyphs
  readonly #drawn = new Set<string>()

  constructor(steps: readonly Step[], glyphs: Glyphs) {
    this.#steps = steps
    this.#ids = new Set(steps.map(({ id }) => id))
    this.#glyphs = glyphs
  }

  /** The steps that wait for triggers alone, each with what follows. */
  roots(): string[] {
    const trees = this.#steps.filter((step) => this.#awaited(step).length === 0).map((step) => this.#tree(step, ''))
    return trees.flatMap((tree, index) => (index === 0 ? tree : ['', ...tree]))
  }

  /** The steps among the predecessors. */
  #awaited(step: Step): string[] {
    return [...new Set(step.after.map(({ id }) => id))].filter((id) => this.#ids.has(id))
  }

  /** True where the step is to be drawn now: all it waits for is drawn, and it is not. */
  #isNext(step: Step): boolean {
    return !this.#drawn.has(step.id) && this.#awaited(step).every((id) => this.#drawn.has(id))
  }

  #branches(step: Step): Branch[] {
    const next = this.#steps.flatMap((other) =>
      other.after.filter(({ id }) => id === step.id).map(({ arm }) => ({ step: other, ...(arm && { arm }) })),
    )
    if (step.kind !== 'decision') return next
    return (['continue', 'otherwise'] as const).flatMap((arm): Branch[] => {
      const taken = next.filter((branch) => branch.arm === arm)
      return taken.length === 0 ? [{ arm }] : taken
    })
  }

  /** Lines of a step and of what is drawn under it; the first line carries no prefix. */
  #tree(step: Step, prefix: string): string[] {
    this.#drawn.add(step.id)
    const branches = this.#branches(step)
    const [only] = branches
    const lines = [this.#label(step)]
    if (branches.length === 1 && only?.step !== undefined && this.#isNext(only.step)) {
      const [first = '', ...rest] = this.#tree(only.step, prefix)
      return [...lines, prefix + this.#glyphs.line, prefix + first, ...rest]
    }
    for (const [index, branch] of branches.entries()) {
      const isLast = index === branches.length - 1
      const [first = '', ...rest] = this.#branch(branch, `${prefix}${isLast ? ' ' : this.#glyphs.line}    `)
      lines.push(`${prefix}${isLast ? this.#glyphs.last : this.#glyphs.branch} ${first}`, ...rest)
    }
    return lines
  }

  #branch({ arm, step }: Branch, prefix: string): string[] {
    const lead = arm === undefined ? '' : `${arm} ${this.#glyphs.arrow} `
    if (step === undefined) return [`${lead}finish`]
    if (!this.#isNext(step)) return [`${lead || `${this.#glyphs.arrow} `}${step.id}`]
    const [first = '', ...rest] = this.#tree(step, prefix)
    return [lead + first, ...rest]
  }

  #label(step: Step): string {
    const awaited = this.#awaited(step)
    return `${step.id}  ${describeStep(step)}${awaited.length > 1 ? `  (waits for ${awaited.join(', ')})` : ''}`
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
