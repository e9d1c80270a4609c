import { type Automation, automation } from '../api/automation.ts'
import { type AutomationGraph, automationGraph } from '../api/automation-graph.ts'
import type {
  AutomationGraphPlan,
  AutomationGraphPlanStatus,
  JournalEntry,
  PlanPhase,
} from '../api/automation-graph-plan.ts'
import { messageLimit } from '../api/fields.ts'
import { isControlledBy } from '../lib/owner-references.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { shorten } from '../lib/text.ts'
import { describeChanges } from '../plan/describe.ts'
import { drift } from '../plan/drift.ts'
import { plannedSpec } from '../plan/managed-spec.ts'
import { planGraph } from '../plan/plan.ts'
import { setCondition } from '../runtime/conditions.ts'
import type { ReconcileContext } from '../runtime/controller.ts'
import type { ReconcileResult } from '../runtime/result.ts'
import { automationFor, correctionOf } from './automation-graph/applied-automation.ts'
import { isFinished, sequenceOf } from './automation-graph/plan-choice.ts'
import { compileGraph, gatherWorld, liveWorld } from './automation-graph/world.ts'

type Plan = DeepReadonly<AutomationGraphPlan>
type Graph = DeepReadonly<AutomationGraph>
type Result = ReconcileResult<AutomationGraphPlanStatus>

/**
 * Takes a plan from review to applied. What is approved is this plan and no other: before anything is written, the plan
 * is computed again from the live cluster, and if its digest has changed it is stale. Applying is journaled: `Started`
 * is recorded before the write, `Done` after it was seen, so that a crash in between is repaired by the next pass.
 */
export async function reconcilePlan(plan: Plan, context: ReconcileContext): Promise<Result> {
  if (isFinished(plan)) return {}
  const { graph: graphName, graphUID } = plan.spec.content
  const graph = context.read.get(automationGraph, `${plan.metadata.namespace}/${graphName}`)
  if (graph === undefined || graph.metadata.uid !== graphUID) return {} // the garbage collector is on its way
  if (plan.status?.phase === 'Applying') return await apply(plan, graph, context)
  if (sequenceOf(plan) > (graph.status?.planSequence ?? 0)) return {} // the graph has not recorded it yet
  if (graph.status?.plan !== plan.metadata.name) return stale(plan, context.now)
  if (plan.spec.content.blockers.length > 0) return waiting(plan, 'Blocked', blockedMessage(plan), context.now)
  if (plan.spec.approval === undefined) return waiting(plan, 'Pending', pendingMessage(plan), context.now)
  return (await isCurrent(plan, graph, context)) ? start(plan, context.now) : stale(plan, context.now)
}

function blockedMessage(plan: Plan): string {
  return `Not to be applied: ${plan.spec.content.blockers.map(({ detail }) => detail).join(' ')}`
}

function pendingMessage(plan: Plan): string {
  return `Waits for review: graphwright approve plan/${plan.metadata.name}`
}

/** Computes the plan again from the API server. */
async function isCurrent(plan: Plan, graph: Graph, context: ReconcileContext): Promise<boolean> {
  const source = liveWorld(graph.metadata.namespace ?? '', context)
  const latest = await source.get(automationGraph, graph.metadata.name)
  if (latest?.metadata.uid !== graph.metadata.uid || latest === undefined) return false
  const compiled = compileGraph(latest, await source.get(automation, graph.metadata.name), context.now)
  if (compiled.kind === 'rejected') return false
  const last = { revision: plan.spec.content.revision, appliedPlanDigest: latest.status?.applied?.digest }
  const world = await gatherWorld(latest, compiled, last, source)
  return planGraph(compiled, world).digest === plan.spec.content.digest
}

function start(plan: Plan, now: Date): Result {
  const journal = [entry(plan, 'Started', now)]
  return { status: { ...statusOf(plan, 'Applying', 'Being applied.', now), journal }, after: 0 }
}

/** Writes the Automation, or, where it is as planned already, records that it is done. */
async function apply(plan: Plan, graph: Graph, context: ReconcileContext): Promise<Result> {
  const { name, namespace = '' } = graph.metadata
  const live = await liveWorld(namespace, context).get(automation, name)
  if (live === undefined) return { create: [automationFor(graph, plan.spec.content)], after: 0 }
  if (!isControlledBy(live, graph)) return failed(plan, live, context.now)
  if (drift(plannedSpec(plan.spec.content), live.spec).length > 0) {
    return { patch: [correctionOf(live, plan.spec.content)], after: 0 }
  }
  const journal = [
    ...(plan.status?.journal ?? []).map((old) => ({ ...old })),
    { ...entry(plan, 'Done', context.now), uid: live.metadata.uid },
  ]
  return {
    status: { ...statusOf(plan, 'Applied', `Applied: ${describeChanges(plan.spec.content)}.`, context.now), journal },
    events: [
      {
        type: 'Normal',
        reason: 'PlanApplied',
        note: `Applied: ${describeChanges(plan.spec.content)}.`,
        action: 'Apply',
      },
    ],
  }
}

function entry(plan: Plan, state: JournalEntry['state'], now: Date): JournalEntry {
  const action = plan.spec.content.dispositions.find(({ kind }) => kind === automation.kind)?.action ?? 'Update'
  return { kind: automation.kind, name: plan.spec.content.graph, action, state, time: now.toISOString() }
}

/** An Automation that the graph does not own is never adopted. */
function failed(plan: Plan, live: DeepReadonly<Automation>, now: Date): Result {
  const message = `Automation ${live.metadata.name} exists and is not owned by this graph. Delete or rename it, or rename the graph, then change the graph to get a new plan.`
  return {
    status: { ...statusOf(plan, 'Failed', message, now), ...journalOf(plan) },
    events: [{ type: 'Warning', reason: 'PlanFailed', note: message, action: 'Apply' }],
  }
}

function stale(plan: Plan, now: Date): Result {
  const message =
    'The graph or what it refers to has changed since this plan was made; see the newest plan of the graph.'
  return { status: { ...statusOf(plan, 'Stale', message, now), ...journalOf(plan) } }
}

function waiting(plan: Plan, phase: PlanPhase, message: string, now: Date): Result {
  return { status: statusOf(plan, phase, message, now) }
}

function journalOf(plan: Plan): Pick<AutomationGraphPlanStatus, 'journal'> {
  const journal = plan.status?.journal?.map((old) => ({ ...old }))
  return journal === undefined ? {} : { journal }
}

const outcomes: Partial<Record<PlanPhase, 'True' | 'False'>> = { Applied: 'True', Stale: 'False', Failed: 'False' }

function statusOf(plan: Plan, phase: PlanPhase, message: string, now: Date): AutomationGraphPlanStatus {
  const generation = plan.metadata.generation ?? 0
  const status = outcomes[phase] ?? 'Unknown'
  return {
    observedGeneration: generation,
    phase,
    message: shorten(message, messageLimit),
    changes: describeChanges(plan.spec.content),
    blockers: plan.spec.content.blockers.length,
    conditions: setCondition(
      plan.status?.conditions,
      { type: 'Succeeded', status, reason: phase, message },
      generation,
      now,
    ),
  }
}
