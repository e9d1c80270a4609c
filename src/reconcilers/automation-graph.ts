import { type Automation, automation } from '../api/automation.ts'
import { automationFiring } from '../api/automation-firing.ts'
import { type AutomationGraph, type AutomationGraphStatus, automationGraph } from '../api/automation-graph.ts'
import { type AutomationGraphPlan, automationGraphPlan, type PlanContent } from '../api/automation-graph-plan.ts'
import { automationProgram } from '../api/automation-program.ts'
import { apiVersion } from '../api/kind.ts'
import { labels } from '../api/labels.ts'
import type { CompiledGraph, RejectedGraph } from '../graph/compiled.ts'
import { sameJson } from '../lib/json.ts'
import { type KubeObject, keyOf, type ObjectRef, refOf } from '../lib/object.ts'
import { isControlledBy } from '../lib/owner-references.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { describeChanges } from '../plan/describe.ts'
import { programFor } from '../plan/managed-spec.ts'
import { planGraph } from '../plan/plan.ts'
import type { Reconcile, ReconcileContext } from '../runtime/controller.ts'
import { type EventInput, type Patched, type ReconcileResult, Wait } from '../runtime/result.ts'
import { firingsByAutomation } from './automation-firing/index-by-automation.ts'
import { isSettledFiring } from './automation-firing/phase.ts'
import { automationFor, correctionOf } from './automation-graph/applied-automation.ts'
import { type DriftedField, driftedFields } from './automation-graph/drift.ts'
import { choosePlan, isFinished, lastApplied, type PlanChoice, sequenceOf } from './automation-graph/plan-choice.ts'
import { driftMessage, driftText, type PlannedGraph, plannedStatus, rejectedStatus } from './automation-graph/status.ts'
import { cachedWorld, compileGraph, gatherWorld } from './automation-graph/world.ts'

type Graph = DeepReadonly<AutomationGraph>
type Plan = DeepReadonly<AutomationGraphPlan>
type Result = ReconcileResult<AutomationGraphStatus>

/**
 * Compiles a graph, keeps the one plan that its current document and the live cluster ask for, and reports drift of
 * what is applied. Applying a plan is the plan's own reconciler.
 * @param approver user name of this manager, which approves where `applyPolicy` is `Automatic`
 */
export function graphReconciler(approver: string): Reconcile<AutomationGraph, AutomationGraphStatus> {
  return async (graph, context) => {
    const target = context.read.get(automation, keyOf(graph.metadata))
    const compiled = compileGraph(graph, target, context.now)
    if (compiled.kind === 'rejected') return rejected(graph, compiled, context)
    return await planned(graph, compiled, target, approver, context)
  }
}

function rejected(graph: Graph, compiled: RejectedGraph, { read, now }: ReconcileContext): Result {
  const { errors } = compiled
  const applied = lastApplied(read.byOwner(automationGraphPlan, graph.metadata.uid ?? ''))
  const status = rejectedStatus(graph, compiled, applied, now)
  const news = !sameJson(graph.status?.errors ?? [], status.errors)
  const count = errors.length === 1 ? '' : `${errors.length} errors, the first `
  const note = `The document does not compile: ${count}${errors[0]?.code}: ${errors[0]?.detail}`
  return { status, events: news ? [{ type: 'Warning', reason: 'CompileFailed', note, action: 'Compile' }] : [] }
}

async function planned(
  graph: Graph,
  compiled: CompiledGraph,
  target: DeepReadonly<Automation> | undefined,
  approver: string,
  context: ReconcileContext,
): Promise<Result> {
  const { name, namespace = '', uid = '', generation = 1 } = graph.metadata
  const unchanged = graph.status?.documentDigest === compiled.documentDigest
  const revision = unchanged ? (graph.status?.revision ?? generation) : generation
  const plans = context.read.byOwner(automationGraphPlan, uid)
  const applied = lastApplied(plans)
  const last = { revision, appliedPlanDigest: applied?.spec.content.digest }
  const world = await gatherWorld(graph, compiled, last, cachedWorld(namespace, context))
  const content = planGraph(compiled, world)
  const owned = target !== undefined && isControlledBy(target, graph) ? target : undefined
  const choice = choosePlan({
    graph: name,
    sequence: graph.status?.planSequence ?? 0,
    plans,
    content,
    automationExists: owned !== undefined || corrects(graph),
    isTaken: (taken) => context.read.get(automationGraphPlan, `${namespace}/${taken}`) !== undefined,
  })
  if (choice.plan === undefined) awaitReferences(graph, content, context)
  const current: PlannedGraph = {
    plan: { name: choice.name, ...currentPlan(choice, content) },
    applied,
    automation: owned,
    drift: await driftOf(choice, applied, owned, context),
    corrects: corrects(graph),
  }
  return {
    create: [
      ...missingProgram(graph, compiled, current.plan.content, context),
      ...(choice.plan === undefined ? [newPlan(graph, content, choice.name, approver)] : []),
    ],
    apply: [...approveAutomatically(graph, choice.plan, approver), ...missingAutomation(graph, current)],
    patch: correct(graph, current),
    delete: [...finishedPlans(graph, plans, choice, applied), ...unusedPrograms(graph, plans, owned, content, context)],
    status: plannedStatus(graph, compiled, { ...current, revision, sequence: sequenceAfter(choice) }, context.now),
    events: [...(choice.plan === undefined ? [plannedEvent(choice.name, content)] : []), ...driftEvent(graph, current)],
  }
}

/** The newest number that a plan of the graph has or gets. */
function sequenceAfter({ plan, sequence }: PlanChoice): number {
  return Math.max(sequence, plan === undefined ? 0 : sequenceOf(plan))
}

/** How long after a change of the graph a plan that would be blocked is not made yet. */
const referencesGraceMillis = 3000

/**
 * A graph is often applied together with what it refers to, in any order, and Agents take a moment to be published.
 * Shortly after a change that is waited for, instead of making a blocked plan and another one at once.
 */
function awaitReferences(graph: Graph, { blockers }: PlanContent, { read, now }: ReconcileContext): void {
  const changedAt = read.specChangedAt(automationGraph, keyOf(graph.metadata))
  const missing = blockers.filter(({ code }) => code.endsWith('_missing') || code.endsWith('_unpublished'))
  if (missing.length === 0 || missing.length < blockers.length || changedAt === undefined) return
  const left = Date.parse(changedAt) + referencesGraceMillis - now.getTime()
  if (left <= 0) return
  throw new Wait('AwaitingReferences', missing.map(({ detail }) => detail).join('; '), left)
}

function currentPlan({ plan }: PlanChoice, content: PlanContent) {
  if (plan !== undefined)
    return { content: plan.spec.content, phase: plan.status?.phase ?? initialPhase(plan.spec.content) }
  return { content, phase: initialPhase(content) }
}

function initialPhase(content: DeepReadonly<PlanContent>): string {
  return content.blockers.length > 0 ? 'Blocked' : 'Pending'
}

async function driftOf(
  { plan }: PlanChoice,
  applied: Plan | undefined,
  owned: DeepReadonly<Automation> | undefined,
  context: ReconcileContext,
): Promise<DriftedField[]> {
  if (applied === undefined || owned === undefined) return []
  return await driftedFields(applied, owned, isBeingApplied(plan?.status?.phase) ? plan : undefined, context)
}

function isBeingApplied(phase: string | undefined): boolean {
  return phase === 'Approved' || phase === 'Applying'
}

/** The program that the current plan names, where it does not exist: not yet, or not any more. */
function missingProgram(
  graph: Graph,
  compiled: CompiledGraph,
  { program: named, pins }: DeepReadonly<PlanContent>,
  { read }: ReconcileContext,
): KubeObject[] {
  if (named === undefined) return []
  if (read.get(automationProgram, `${graph.metadata.namespace}/${named.name}`) !== undefined) return []
  const program = programFor(graph.metadata.name, compiled, structuredClone(pins) as PlanContent['pins'])
  if (program?.name !== named.name) return []
  const metadata = { name: program.name, ...besides(graph) }
  return [{ apiVersion, kind: automationProgram.kind, metadata, spec: program.spec } as KubeObject]
}

function newPlan(graph: Graph, content: PlanContent, name: string, approver: string): KubeObject {
  const approves = graph.spec.applyPolicy === 'Automatic' && content.blockers.length === 0
  const spec = { content, ...(approves && { approval: { digest: content.digest, by: approver } }) }
  return { apiVersion, kind: automationGraphPlan.kind, metadata: { name, ...besides(graph) }, spec } as KubeObject
}

/** What the metadata of everything that is made for a graph has beside a name. */
function besides({ metadata }: Graph): { namespace: string; labels: Record<string, string> } {
  return { namespace: metadata.namespace ?? '', labels: { [labels.graph]: metadata.name } }
}

/** Approves the pending plan of a graph that was switched to `Automatic`. A plan with blockers needs a person. */
function approveAutomatically(graph: Graph, plan: Plan | undefined, approver: string): KubeObject[] {
  if (graph.spec.applyPolicy !== 'Automatic' || plan === undefined || isFinished(plan)) return []
  if (plan.spec.approval !== undefined || plan.spec.content.blockers.length > 0) return []
  const { name, namespace = '' } = plan.metadata
  const approval = { digest: plan.spec.content.digest, by: approver }
  const approved = { apiVersion, kind: plan.kind, metadata: { name, namespace }, spec: { approval } }
  return [approved]
}

function corrects(graph: Graph): boolean {
  return graph.spec.driftPolicy === 'Correct'
}

/** The applied Automation, where somebody deleted it. */
function missingAutomation(graph: Graph, { plan, applied, automation: live }: PlannedGraph): KubeObject[] {
  if (!corrects(graph) || applied === undefined || live !== undefined || isBeingApplied(plan.phase)) return []
  return [automationFor(graph, applied.spec.content)]
}

/** Puts the approved content back. Not while a plan is being applied: that decides what the content is. */
function correct(graph: Graph, { plan, applied, automation: live, drift: drifted }: PlannedGraph): Patched[] {
  if (!corrects(graph) || applied === undefined || live === undefined || isBeingApplied(plan.phase)) return []
  return drifted.length === 0 ? [] : [correctionOf(live, applied.spec.content)]
}

function finishedPlans(
  graph: Graph,
  plans: readonly Plan[],
  choice: PlanChoice,
  applied: Plan | undefined,
): ObjectRef[] {
  const limit = graph.spec.planHistoryLimit ?? 10
  const kept = [choice.name, applied?.metadata.name]
  return [...plans]
    .filter((plan) => isFinished(plan) && !kept.includes(plan.metadata.name))
    .sort((a, b) => sequenceOf(b) - sequenceOf(a))
    .slice(limit)
    .map(refOf)
}

/** Programs that no plan, Automation or unsettled firing names any more. */
function unusedPrograms(
  graph: Graph,
  plans: readonly Plan[],
  target: DeepReadonly<Automation> | undefined,
  content: PlanContent,
  { read }: ReconcileContext,
): ObjectRef[] {
  const firings = read.byIndex(automationFiring, firingsByAutomation.name, keyOf(graph.metadata))
  const used = new Set([
    content.program?.name,
    target?.spec.target.program?.name,
    ...plans.map((plan) => plan.spec.content.program?.name),
    ...firings.filter((firing) => !isSettledFiring(firing)).map((firing) => firing.status?.admission?.program?.name),
  ])
  return read
    .byOwner(automationProgram, graph.metadata.uid ?? '')
    .filter((program) => !used.has(program.metadata.name))
    .map(refOf)
}

function plannedEvent(name: string, content: PlanContent): EventInput {
  if (content.blockers.length > 0) {
    const details = content.blockers.map(({ detail }) => detail).join(' ')
    return { type: 'Warning', reason: 'PlanBlocked', note: `Plan ${name} is blocked: ${details}`, action: 'Plan' }
  }
  return { type: 'Normal', reason: 'Planned', note: `Plan ${name}: ${describeChanges(content)}.`, action: 'Plan' }
}

/** Told when it begins and when it changes: what is put back at once would be seen nowhere else. */
function driftEvent({ status }: Graph, current: PlannedGraph): EventInput[] {
  if (current.drift.length === 0 || status?.drift === driftText(current)) return []
  return [{ type: 'Warning', reason: 'Drifted', note: driftMessage(current), action: 'Observe' }]
}
