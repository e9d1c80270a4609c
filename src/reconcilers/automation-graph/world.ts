import { agent } from '../../api/agent.ts'
import { type Automation, automation } from '../../api/automation.ts'
import type { AutomationGraph } from '../../api/automation-graph.ts'
import { environment } from '../../api/environment.ts'
import { compile } from '../../graph/compile.ts'
import type { CompiledGraph, CompileResult } from '../../graph/compiled.ts'
import { serviceAccountType } from '../../kube/core-types.ts'
import type { KubeObject, ResourceType } from '../../lib/object.ts'
import { isControlledBy } from '../../lib/owner-references.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'
import { type PlanWorld, planWorldOf } from '../../plan/world.ts'
import type { ReconcileContext } from '../../runtime/controller.ts'

type Graph = DeepReadonly<AutomationGraph>

/** Where objects of one namespace are looked up: the caches while planning, the API server before applying. */
export interface WorldSource {
  get<T extends KubeObject>(type: ResourceType<T>, name: string): Promise<DeepReadonly<T> | undefined>
}

/** Looks up in the caches. */
export function cachedWorld(namespace: string, { read }: ReconcileContext): WorldSource {
  return { get: async (type, name) => read.get(type, `${namespace}/${name}`) }
}

/** Looks up in the API server, for what a cache must not decide. */
export function liveWorld(namespace: string, { live, signal }: ReconcileContext): WorldSource {
  return {
    get: async <T extends KubeObject>(type: ResourceType<T>, name: string) =>
      (await live.find(type, { namespace, name }, { signal })) as DeepReadonly<T> | undefined,
  }
}

/** Compiles the graph's document, with the date that is applied already, if one is. */
export function compileGraph(graph: Graph, applied: DeepReadonly<Automation> | undefined, now: Date): CompileResult {
  const { layout, sampleEvent, applyPolicy, driftPolicy, planHistoryLimit, ...document } = graph.spec
  const owned = applied !== undefined && isControlledBy(applied, graph)
  const beside = { layout, sampleEvent }
  return compile(document, { now, beside, ...(owned && { appliedTriggers: applied.spec.triggers }) })
}

/**
 * Everything the plan of a graph depends on.
 * @param last revision of the document, and the plan that was applied last
 */
export async function gatherWorld(
  graph: Graph,
  compiled: CompiledGraph,
  last: Pick<PlanWorld, 'revision' | 'appliedPlanDigest'>,
  source: WorldSource,
): Promise<PlanWorld> {
  const { name, uid = '', namespace = '' } = graph.metadata
  const [foundEnvironment, foundAccount, foundAutomation, ...agents] = await Promise.all([
    source.get(environment, graph.spec.environment),
    source.get(serviceAccountType, graph.spec.serviceAccountName),
    source.get(automation, name),
    ...compiled.agents.map((agentName) => source.get(agent, agentName)),
  ])
  return planWorldOf({
    graph: { name, uid, namespace },
    ...last,
    environment: foundEnvironment,
    serviceAccount: foundAccount,
    agents,
    automation: foundAutomation,
  })
}
