import { agent } from '../api/agent.ts'
import { type Automation, automation } from '../api/automation.ts'
import { type AutomationGraph, automationGraph } from '../api/automation-graph.ts'
import { environment } from '../api/environment.ts'
import { compile } from '../graph/compile.ts'
import type { CompiledGraph } from '../graph/compiled.ts'
import { serviceAccountType } from '../kube/core-types.ts'
import { isControlledBy } from '../lib/owner-references.ts'
import { planGraph } from '../plan/plan.ts'
import { type PlanWorld, planWorldOf } from '../plan/world.ts'
import type { Cluster } from './cluster.ts'
import type { GraphInFile } from './graph-file.ts'
import { type PlanResult, resultOf } from './plan-result.ts'

/** Plans a graph of a file against the live cluster, as the operator would after an apply. */
export async function planAgainst(graph: GraphInFile, cluster: Cluster, now: Date): Promise<PlanResult> {
  const { client, namespace } = cluster
  const [liveGraph, liveAutomation] = await Promise.all([
    client.find(automationGraph, { name: graph.name, namespace }),
    client.find(automation, { name: graph.name, namespace }),
  ])
  const owned = liveGraph !== undefined && liveAutomation !== undefined && isControlledBy(liveAutomation, liveGraph)
  const compiled = compile(graph.document, {
    now,
    beside: graph.beside,
    ...(owned && { appliedTriggers: liveAutomation.spec.triggers }),
  })
  const result = resultOf(graph, compiled)
  if (result.kind === 'rejected') return result
  const world = await gather(graph.name, result.compiled, cluster, liveGraph, liveAutomation)
  const content = planGraph(result.compiled, world)
  const missing = content.requiredInputs.map(({ kind, name }) => `${kind} ${name}`)
  return { ...result, content, brought: missing.filter((input) => graph.neighbours?.includes(input)) }
}

/** The revision that the graph has once this document is applied. */
function revisionAfter(live: AutomationGraph | undefined, digest: string): number {
  const { generation = 0 } = live?.metadata ?? {}
  if (live?.status?.documentDigest !== digest) return generation + 1
  return live.status.revision ?? generation
}

async function gather(
  name: string,
  compiled: CompiledGraph,
  { client, namespace }: Cluster,
  liveGraph: AutomationGraph | undefined,
  liveAutomation: Automation | undefined,
): Promise<PlanWorld> {
  const { environment: environmentName, serviceAccountName } = compiled.document
  const [foundEnvironment, foundAccount, ...agents] = await Promise.all([
    client.find(environment, { name: environmentName, namespace }),
    client.find(serviceAccountType, { name: serviceAccountName, namespace }),
    ...compiled.agents.map((agentName) => client.find(agent, { name: agentName, namespace })),
  ])
  return planWorldOf({
    graph: { name, uid: liveGraph?.metadata.uid ?? 'not-created', namespace },
    revision: revisionAfter(liveGraph, compiled.documentDigest),
    appliedPlanDigest: liveGraph?.status?.applied?.digest,
    environment: foundEnvironment,
    serviceAccount: foundAccount,
    agents,
    automation: liveAutomation,
  })
}
