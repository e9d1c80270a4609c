import type { AutomationGraphPlan, PlanContent } from '../../api/automation-graph-plan.ts'
import { planName } from '../../lib/names.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'
import { drift } from '../../plan/drift.ts'
import { plannedSpec } from '../../plan/managed-spec.ts'

type Plan = DeepReadonly<AutomationGraphPlan>

/** What choosing the current plan depends on. */
export interface PlanChoiceInput {
  readonly graph: string
  /** The newest number ever given to a plan of this graph. */
  readonly sequence: number
  /** Plans of this graph, in any order. */
  readonly plans: readonly Plan[]
  /** The plan that the world asks for now. */
  readonly content: DeepReadonly<PlanContent>
  /** True while the Automation of the graph exists. */
  readonly automationExists: boolean
  /** True for a name that another object has already. */
  readonly isTaken: (name: string) => boolean
}

/** The plan that counts: an existing one, or one to be created. */
export interface PlanChoice {
  readonly name: string
  readonly sequence: number
  /** Present where the plan exists. */
  readonly plan?: Plan
}

/**
 * The current plan of a graph. The applied one, while what it asks for is what the document asks for; the newest one,
 * while it stands for the very same world; otherwise another, under a number that was never used. A failed plan is not
 * made again for the same world: that would fail for ever.
 */
export function choosePlan(input: PlanChoiceInput): PlanChoice {
  const ordered = [...input.plans].sort((a, b) => sequenceOf(a) - sequenceOf(b))
  const newest = ordered.at(-1)
  const applied = lastApplied(ordered)
  const sequence = Math.max(input.sequence, newest === undefined ? 0 : sequenceOf(newest))
  if (applied !== undefined && input.automationExists && wants(applied, input.content)) {
    return { name: applied.metadata.name, sequence, plan: applied }
  }
  if (newest !== undefined && stands(newest, input.content)) {
    return { name: newest.metadata.name, sequence, plan: newest }
  }
  return nextPlan(input.graph, sequence, input.isTaken)
}

/** The applied plan with the highest number. */
export function lastApplied(plans: readonly Plan[]): Plan | undefined {
  return [...plans]
    .filter((plan) => plan.status?.phase === 'Applied')
    .sort((a, b) => sequenceOf(a) - sequenceOf(b))
    .at(-1)
}

/** Number at the end of a plan's name. */
export function sequenceOf(plan: Plan): number {
  return Number(plan.metadata.name.slice(plan.metadata.name.lastIndexOf('-') + 1))
}

/** True when the plan will never be applied again: `Stale`, `Applied` and `Failed` are final. */
export function isFinished(plan: Plan): boolean {
  return ['Stale', 'Applied', 'Failed'].includes(plan.status?.phase ?? '')
}

/** True while the plan stands for this world, or is about to have made it: what it asks for is there already. */
function stands(plan: Plan, content: DeepReadonly<PlanContent>): boolean {
  if (isFinished(plan) && plan.status?.phase !== 'Failed') return false
  if (plan.spec.content.digest === content.digest) return true
  return !isFinished(plan) && wants(plan, content) && changesNothing(content)
}

function changesNothing({ dispositions, blockers }: DeepReadonly<PlanContent>): boolean {
  return blockers.length === 0 && dispositions.every(({ action }) => action === 'Unchanged')
}

/** A graph that writes a default down asks for nothing else. */
function wants(plan: Plan, { automation }: DeepReadonly<PlanContent>): boolean {
  return drift(plannedSpec(plan.spec.content), automation).length === 0
}

function nextPlan(graph: string, sequence: number, isTaken: (name: string) => boolean): PlanChoice {
  let next = sequence + 1
  while (isTaken(planName(graph, next))) next += 1
  return { name: planName(graph, next), sequence: next }
}
