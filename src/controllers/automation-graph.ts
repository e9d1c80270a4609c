import { agent } from '../api/agent.ts'
import { automation } from '../api/automation.ts'
import { automationFiring } from '../api/automation-firing.ts'
import { type AutomationGraph, type AutomationGraphStatus, automationGraph } from '../api/automation-graph.ts'
import { automationGraphPlan } from '../api/automation-graph-plan.ts'
import { automationProgram } from '../api/automation-program.ts'
import { environment } from '../api/environment.ts'
import { fieldManagers } from '../api/labels.ts'
import { serviceAccountType } from '../kube/core-types.ts'
import { type KubeObject, keyOf, type ObjectKey } from '../lib/object.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { graphReconciler } from '../reconcilers/automation-graph.ts'
import { type ControllerSpec, watch, watchOwned } from '../runtime/controller.ts'
import type { Reader } from '../runtime/result.ts'

type Graph = DeepReadonly<AutomationGraph>

/** @param approver user name of this manager */
export function automationGraphController(approver: string): ControllerSpec<AutomationGraph, AutomationGraphStatus> {
  return {
    name: 'automationgraph',
    for: automationGraph,
    ready: 'Ready',
    fieldManager: fieldManagers.manager,
    reconcile: graphReconciler(approver),
    watches: [
      watchOwned(automationGraphPlan, automationGraph),
      watchOwned(automationProgram, automationGraph),
      // By name and not by owner: an Automation that somebody else owns is a conflict of the graph of that name.
      watch(automation, ({ metadata }) => [keyOf(metadata)]),
      watch(environment, (object, read) =>
        graphsThat(object, read, ({ spec }) => spec.environment === object.metadata.name),
      ),
      watch(serviceAccountType, (object, read) =>
        graphsThat(object, read, ({ spec }) => spec.serviceAccountName === object.metadata.name),
      ),
      watch(agent, (object, read) =>
        graphsThat(object, read, ({ spec }) => spec.nodes.some((node) => node.agent === object.metadata.name)),
      ),
    ],
    reads: [automationFiring],
  }
}

function graphsThat(
  { metadata }: DeepReadonly<KubeObject>,
  read: Reader,
  refer: (graph: Graph) => boolean,
): ObjectKey[] {
  const graphs = read.list(automationGraph, metadata.namespace)
  return graphs.filter(refer).map((graph) => keyOf(graph.metadata))
}
