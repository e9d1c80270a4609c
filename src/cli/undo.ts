import { type AutomationGraph, automationGraph } from '../api/automation-graph.ts'
import { type AutomationGraphPlan, automationGraphPlan } from '../api/automation-graph-plan.ts'
import { documentFields } from '../api/graph-document.ts'
import { digestJson } from '../lib/digest.ts'
import { type Json, type JsonObject, sameJson } from '../lib/json.ts'
import { settledPlan } from './approve.ts'
import { changeAsSeen } from './change.ts'
import { type Cluster, getNamed, withCluster } from './cluster.ts'
import { type CliCode, CliError, cannotAsk, type ExitCode, exitCodes, type Io } from './io.ts'
import type { GlobalOptions } from './options.ts'
import { print } from './output.ts'
import { renderContent } from './plan-text.ts'

export interface UndoOptions extends GlobalOptions {
  readonly toRevision: string
}

/**
 * `undo GRAPH --to-revision N`: gives the graph the document of an earlier revision again, which the operator plans anew.
 * Nothing runs differently until that plan is approved, unless the graph approves its plans itself.
 */
export async function undoCommand(name: string, options: UndoOptions, io: Io): Promise<ExitCode> {
  const revision = Number(options.toRevision)
  if (!Number.isInteger(revision) || revision < 1) {
    throw cannotAsk('usage', `--to-revision ${options.toRevision} is no revision: write a number from 1 on`)
  }
  return withCluster(options, async (cluster) => {
    const graph = await getNamed(cluster, automationGraph, name)
    const document = documentOf(graph, await plansOf(graph, cluster), revision)
    const undone = await changeAsSeen(cluster, automationGraph, graph, (live) => undoPatch(live, document))
    const changed = undone.metadata.generation !== graph.metadata.generation
    const plan = changed ? await newPlan(name, cluster, io) : undefined
    print(io, options, undoData(undone, revision, changed, plan), () => renderUndo(undone, revision, changed, plan, io))
    return exitCodes.ok
  })
}

async function plansOf({ metadata }: AutomationGraph, { client, namespace }: Cluster): Promise<AutomationGraphPlan[]> {
  const { items } = await client.list(automationGraphPlan, { namespace })
  return items.filter(({ spec }) => spec.content.graphUID === metadata.uid)
}

/** The document of a revision, by any of its plans: they all froze the same one. */
export function documentOf(
  { metadata, spec }: AutomationGraph,
  plans: readonly AutomationGraphPlan[],
  revision: number,
): JsonObject {
  const found = plans.find(({ spec: { content } }) => content.revision === revision)
  if (found !== undefined) return found.spec.content.document as JsonObject
  const kept = [...new Set(plans.map(({ spec: { content } }) => content.revision))].sort((a, b) => a - b)
  const listed =
    kept.length === 0 ? 'no revision is kept' : `kept ${kept.length === 1 ? 'is' : 'are'}: ${kept.join(', ')}`
  throw cannotAsk(
    'not_found',
    `the graph ${metadata.name} has no plan of revision ${revision} (any more); ${listed} (planHistoryLimit is ${spec.planHistoryLimit})`,
  )
}

/**
 * The document as a merge patch; undefined where the graph has it already. What stands beside the document, such as the
 * layout or the policies, stays as it is.
 */
export function undoPatch({ metadata, spec, status }: AutomationGraph, document: JsonObject): JsonObject | undefined {
  // The operator's digest knows that two ways of writing are one document.
  const isSeen = status?.observedGeneration === metadata.generation
  if (isSeen && status?.documentDigest === digestJson(document)) return undefined
  const known = Object.keys(documentFields) as (keyof typeof documentFields)[]
  const fields = known.filter((field) => spec[field] !== undefined || document[field] !== undefined)
  if (fields.every((field) => sameJson(spec[field] ?? null, document[field] ?? null))) return undefined
  // A field that the document of then did not have is removed.
  return { spec: Object.fromEntries(fields.map((field): [string, Json] => [field, document[field] ?? null])) }
}

/** The plan of the document; undefined where the operator has not made one in time, which is no failure of this. */
async function newPlan(name: string, cluster: Cluster, io: Io): Promise<AutomationGraphPlan | undefined> {
  try {
    return await settledPlan(`graph/${name}`, cluster, io)
  } catch (error) {
    const harmless: readonly CliCode[] = ['not_planned', 'rejected']
    if (!(error instanceof CliError) || !harmless.some((code) => code === error.code)) throw error
    io.err(`warning: ${error.message}\n`)
    return undefined
  }
}

function undoData(
  { metadata }: AutomationGraph,
  revision: number,
  changed: boolean,
  plan: AutomationGraphPlan | undefined,
): object {
  return {
    kind: 'undone',
    graph: metadata.name,
    namespace: metadata.namespace,
    toRevision: revision,
    changed,
    plan: plan === undefined ? null : { name: plan.metadata.name, ...plan.spec.content },
  }
}

function renderUndo(
  { metadata, spec }: AutomationGraph,
  revision: number,
  changed: boolean,
  plan: AutomationGraphPlan | undefined,
  { invocation }: Io,
): string {
  const { name } = metadata
  if (!changed) return `Graph ${name} has the document of revision ${revision} already: nothing was changed.`
  const head = `Graph ${name} has the document of revision ${revision} again. If it is kept in a file or in Git, change it there too.`
  const isApplied = plan?.status?.phase === 'Applied'
  const next = isApplied
    ? 'That is what is applied: there is nothing to approve.'
    : spec.applyPolicy === 'Automatic'
      ? 'It approves its plans itself.'
      : `Next: ${invocation} approve ${name}`
  const shown = plan === undefined ? '' : `\n\nPlan ${plan.metadata.name}:\n${renderContent(plan.spec.content)}`
  return `${head}${shown}\n\n${next}`
}
