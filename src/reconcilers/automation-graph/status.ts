import type { Automation } from '../../api/automation.ts'
import {
  type AutomationGraph,
  type AutomationGraphStatus,
  driftLimit,
  type GraphError,
} from '../../api/automation-graph.ts'
import type { AutomationGraphPlan, PlanContent } from '../../api/automation-graph-plan.ts'
import type { CompiledGraph, RejectedGraph } from '../../graph/compiled.ts'
import type { Condition } from '../../lib/object.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'
import { shorten } from '../../lib/text.ts'
import { describeChanges } from '../../plan/describe.ts'
import {
  type ConditionInput,
  conditionOf,
  isTrue,
  setCondition,
  withoutCondition,
  withStalled,
} from '../../runtime/conditions.ts'
import { type DriftedField, describeDrift } from './drift.ts'

type Graph = DeepReadonly<AutomationGraph>
type Plan = DeepReadonly<AutomationGraphPlan>

/** What the conditions of a planned graph say, from what is known of its plan and its Automation. */
export interface PlannedGraph {
  readonly plan: { readonly name: string; readonly content: DeepReadonly<PlanContent>; readonly phase: string }
  readonly applied: Plan | undefined
  readonly automation: DeepReadonly<Automation> | undefined
  /** Fields of the Automation that differ from what was applied. */
  readonly drift: readonly DriftedField[]
  /** Whether drift is put back. */
  readonly corrects: boolean
}

/** The whole status of a graph whose document does not compile: what is applied keeps running, and is shown. */
export function rejectedStatus(
  graph: Graph,
  { errors, warnings }: RejectedGraph,
  applied: Plan | undefined,
  now: Date,
): AutomationGraphStatus {
  const { revision, documentDigest, planSequence, drift, applied: recorded } = graph.status ?? {}
  const shown = applied === undefined ? recorded : appliedStatus(applied)
  return {
    observedGeneration: graph.metadata.generation,
    ...(revision !== undefined && { revision }),
    ...(documentDigest !== undefined && { documentDigest }),
    ...(planSequence !== undefined && { planSequence }),
    ...(shown !== undefined && { applied: shown }),
    ...(drift !== undefined && { drift }),
    errors: errors.slice(0, 100),
    warnings: warnings.slice(0, 100),
    conditions: rejectedConditions(graph, errors, now),
  }
}

function rejectedConditions(graph: Graph, errors: readonly GraphError[], now: Date): Condition[] {
  const message = `The document does not compile: ${errors.map(describeError).join('; ')}`
  const cause = { reason: 'Invalid', message }
  const generation = graph.metadata.generation ?? 0
  const before = graph.status?.conditions
  // What waited for review was the plan of another document.
  const shown = isTrue(before, 'Applied') ? before : withoutCondition(before, 'Applied')
  const kept = withoutCondition(shown, 'Planned')
  const conditions = set(kept, generation, now, [
    { type: 'Ready', status: 'False', ...cause },
    { type: 'Valid', status: 'False', ...cause },
  ])
  return withStalled(conditions, cause, generation, now)
}

function describeError({ code, node, edge, detail }: GraphError): string {
  const where = node === undefined ? (edge === undefined ? '' : ` at ${edge}`) : ` at node ${node}`
  return `${code}${where}: ${detail}`
}

/** The whole status of a graph that compiles. */
export function plannedStatus(
  graph: Graph,
  { documentDigest, warnings }: CompiledGraph,
  planned: PlannedGraph & { readonly revision: number; readonly sequence: number },
  now: Date,
): AutomationGraphStatus {
  const { plan, applied, revision, sequence } = planned
  return {
    observedGeneration: graph.metadata.generation,
    revision,
    documentDigest,
    planSequence: sequence,
    plan: plan.name,
    changes: describeChanges(plan.content),
    ...(applied !== undefined && { applied: appliedStatus(applied), drift: driftText(planned) }),
    errors: [],
    warnings: warnings.slice(0, 100),
    conditions: plannedConditions(graph, planned, now),
  }
}

function plannedConditions(graph: Graph, planned: PlannedGraph, now: Date): Condition[] {
  const valid: ConditionInput = { type: 'Valid', status: 'True', reason: 'Compiled', message: 'The document compiles.' }
  const isPlanned: ConditionInput = { type: 'Planned', status: 'True', reason: 'Planned', message: 'A plan exists.' }
  const inSync = inSyncCondition(planned)
  const inputs = [readyCondition(planned), valid, isPlanned, appliedCondition(planned), ...(inSync ? [inSync] : [])]
  const before = inSync ? graph.status?.conditions : withoutCondition(graph.status?.conditions, 'InSync')
  return set(before, graph.metadata.generation ?? 0, now, inputs)
}

function set(
  before: readonly Readonly<Condition>[] | undefined,
  generation: number,
  now: Date,
  inputs: readonly ConditionInput[],
): Condition[] {
  let conditions = [...(before ?? [])]
  for (const input of inputs) conditions = setCondition(conditions, input, generation, now)
  return conditions
}

/** Where the current plan stands on its way to being applied. */
function appliedCondition({ plan }: PlannedGraph): ConditionInput {
  const type = 'Applied'
  const blockers = plan.content.blockers.map(({ detail }) => detail).join(' ')
  switch (plan.phase) {
    case 'Applied':
      return { type, status: 'True', reason: 'Applied', message: 'What the document asks for is applied.' }
    case 'Blocked':
      return { type, status: 'False', reason: 'Blocked', message: `The plan is blocked: ${blockers}` }
    case 'Failed':
      return { type, status: 'False', reason: 'Failed', message: 'Applying the plan failed; see the plan.' }
    case 'Approved':
    case 'Applying':
      return { type, status: 'False', reason: 'Applying', message: 'The approved plan is being applied.' }
    default:
      return { type, status: 'False', reason: 'AwaitingApproval', message: awaiting(plan.name) }
  }
}

function awaiting(plan: string): string {
  return `Plan ${plan} waits for review: kubectl describe agplan ${plan}, then graphwright approve plan/${plan}.`
}

/** Ready is about what is applied: waiting for review leaves it alone, so that a sync does not wait for a person. */
function readyCondition({ plan, applied, automation }: PlannedGraph): ConditionInput {
  const type = 'Ready'
  if (applied === undefined) {
    if (plan.phase !== 'Blocked') {
      return {
        type,
        status: 'True',
        reason: 'NothingApplied',
        message: 'The document compiles and is planned; nothing is applied yet.',
      }
    }
    const blockers = plan.content.blockers.map(({ detail }) => detail).join(' ')
    return {
      type,
      status: 'False',
      reason: 'Blocked',
      message: `Nothing is applied and the plan is blocked: ${blockers}`,
    }
  }
  if (automation === undefined) {
    return {
      type,
      status: 'False',
      reason: 'AutomationMissing',
      message: 'The applied Automation was deleted; apply the new plan to make it again.',
    }
  }
  const ready = conditionOf(automation.status?.conditions, 'Ready')
  if (ready === undefined) {
    return {
      type,
      status: 'Unknown',
      reason: 'Checking',
      message: 'The readiness of the Automation has not been looked at yet.',
    }
  }
  return { type, status: ready.status, reason: ready.reason, message: ready.message }
}

function inSyncCondition(planned: PlannedGraph): ConditionInput | undefined {
  const { applied, automation, drift } = planned
  if (applied === undefined) return undefined
  const type = 'InSync'
  if (automation === undefined) {
    return { type, status: 'False', reason: 'Deleted', message: 'The applied Automation was deleted.' }
  }
  if (drift.length === 0) return { type, status: 'True', reason: 'InSync', message: 'The Automation is as applied.' }
  return { type, status: 'False', reason: 'Drifted', message: driftMessage(planned) }
}

/** Which fields somebody changed, who, and what to do. */
export function driftMessage({ drift, corrects }: PlannedGraph): string {
  const what = `The Automation differs from what was applied: ${shorten(describeDrift(drift), driftLimit)}.`
  if (corrects) return `${what} It is being put back; to keep a change, make it in the graph.`
  return `${what} To keep a change, make it in the graph; to put it back, set driftPolicy: Correct.`
}

/** The `Drift` column of a graph that is applied. */
export function driftText({ automation, drift }: PlannedGraph): string {
  if (automation === undefined) return 'deleted'
  return drift.length === 0 ? 'none' : shorten(drift.map(({ path }) => path).join(', '), driftLimit)
}

/** What is applied, for the status. */
function appliedStatus(applied: Plan): NonNullable<AutomationGraphStatus['applied']> {
  const { revision, digest, graph } = applied.spec.content
  return { plan: applied.metadata.name, revision, digest, automation: graph }
}
