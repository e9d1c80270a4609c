import type { StepOutcome } from '../api/automation-firing.ts'
import type { ProgramStep } from '../api/program.ts'
import type { Digest } from '../lib/digest.ts'
import type { ReadonlyJson } from '../lib/json.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { InlineBudget, inlineBytes } from './contents.ts'
import type { AdvanceInput } from './input.ts'
import { isFailure, isTerminal } from './outcomes.ts'
import type { ParseWanted, SessionWanted } from './wanted.ts'

type Step = DeepReadonly<ProgramStep>

/** One call of `advance` under way: what is known of the steps so far, and what is wanted. */
export class Pass {
  readonly input: AdvanceInput
  /** Outcome of each step that has one; begins with what is recorded. */
  readonly outcomes: Map<string, DeepReadonly<StepOutcome>>
  readonly sessions: SessionWanted[] = []
  readonly parse: ParseWanted[] = []
  readonly load = new Set<Digest>()
  /** Steps that are recorded as running, and whose Session is not to be seen. */
  readonly unseen: string[] = []
  /** Steps that are ready and may not start for now. */
  readonly held: string[] = []
  /** Texts that this pass came across, by digest. */
  readonly texts = new Map<Digest, string>()
  /** Values of JSON texts that were parsed again, by digest. */
  readonly values = new Map<Digest, ReadonlyJson>()
  readonly budget: InlineBudget
  readonly #steps: ReadonlyMap<string, Step>

  constructor(input: AdvanceInput) {
    this.input = input
    this.outcomes = new Map(Object.entries(input.recorded))
    this.#steps = new Map(input.program.steps.map((step) => [step.id, step]))
    const used = [...this.outcomes.values()].reduce((sum, { output }) => sum + inlineBytes(output), 0)
    this.budget = new InlineBudget(used)
  }

  /** Steps in an order in which each comes after its predecessors. */
  get steps(): readonly Step[] {
    return this.input.program.steps
  }

  /** Steps without an outcome: neither started nor skipped. */
  get untouched(): readonly Step[] {
    return this.steps.filter(({ id }) => !this.outcomes.has(id))
  }

  /** Ids of the steps that were started and have not settled. */
  get inFlight(): readonly string[] {
    return this.steps.map(({ id }) => id).filter((id) => this.outcomes.has(id) && !isTerminal(this.outcomes.get(id)))
  }

  /** True once a step has failed: nothing new starts. */
  get hasFailed(): boolean {
    return this.outcomes.values().some(isFailure)
  }

  /** True once somebody has asked for the end of the program. */
  get isCancelled(): boolean {
    return this.input.cancelled !== undefined
  }

  /** True when contents or evaluations are needed before this pass can go on. */
  get isBlocked(): boolean {
    return this.load.size > 0 || this.parse.length > 0
  }

  step(id: string): Step | undefined {
    return this.#steps.get(id)
  }

  /** Records an outcome. A terminal one is never replaced. */
  record(step: string, outcome: StepOutcome): void {
    if (!isTerminal(this.outcomes.get(step))) this.outcomes.set(step, outcome)
  }
}
