import { policiesOf } from '../api/automation-policies.ts'
import { compile } from '../graph/compile.ts'
import { canShowUnicode } from './draw.ts'
import { type GraphInFile, readGraphs } from './graph-file.ts'
import { type ExitCode, exitCodes, type Io } from './io.ts'
import { type GlobalOptions, placeOptions } from './options.ts'
import { print } from './output.ts'
import { type PlanResult, resultOf } from './plan-result.ts'
import { renderPlans } from './plan-text.ts'
import { readText } from './text-file.ts'

export interface PlanOptions extends GlobalOptions {
  readonly filename: string
  readonly live?: boolean
  readonly ascii?: boolean
}

/** `plan -f FILE`: compiles the graphs of a file; with --live also against the cluster. Nothing is changed. */
export async function planCommand(options: PlanOptions, io: Io): Promise<ExitCode> {
  const text = await readText(options.filename, io)
  const graphs = readGraphs(text, options.filename)
  const results =
    options.live === true ? await planLive(graphs, options, io) : graphs.map((graph) => planOffline(graph, io))
  const unicode = options.ascii !== true && canShowUnicode(io.env)
  const [first] = results
  const data = results.map(planData)
  print(io, options, results.length === 1 && first ? planData(first) : data, () =>
    renderPlans(results, {
      unicode,
      invocation: io.invocation,
      place: placeOptions(options),
      filename: options.filename,
    }),
  )
  return results.every(({ kind }) => kind === 'planned') ? exitCodes.ok : exitCodes.refused
}

function planOffline(graph: GraphInFile, io: Io): PlanResult {
  return resultOf(graph, compile(graph.document, { now: io.clock.now(), beside: graph.beside }))
}

async function planLive(graphs: readonly GraphInFile[], options: PlanOptions, io: Io): Promise<PlanResult[]> {
  const [{ withCluster }, { planAgainst }] = await Promise.all([import('./cluster.ts'), import('./plan-live.ts')])
  return withCluster(options, async (cluster) => {
    const results: PlanResult[] = []
    for (const graph of graphs) results.push(await planAgainst(graph, cluster, io.clock.now()))
    return results
  })
}

/** The result as data: a program, or null where the graph is one agent. */
function planData(result: PlanResult): object {
  if (result.kind === 'rejected') {
    return { kind: result.kind, graph: result.graph, errors: result.errors, warnings: result.warnings }
  }
  const { graph, compiled, content } = result
  const { target, triggers, agents, document, documentDigest, warnings } = compiled
  const policies = policiesOf(document)
  return {
    kind: result.kind,
    graph,
    program: target.kind === 'program' ? target.program : null,
    ...(target.kind === 'agent' && { agent: target.agent }),
    triggers,
    ...(Object.keys(policies).length > 0 && { policies }),
    agents,
    documentDigest,
    warnings,
    ...(content && { plan: content }),
  }
}
