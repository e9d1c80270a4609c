import { automation } from '../api/automation.ts'
import { type AutomationGraph, automationGraph } from '../api/automation-graph.ts'
import {
  type AutomationGraphPlan,
  type AutomationGraphPlanStatus,
  automationGraphPlan,
} from '../api/automation-graph-plan.ts'
import { fieldManagers } from '../api/labels.ts'
import { keyOf, type ObjectKey } from '../lib/object.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { isFinished } from '../reconcilers/automation-graph/plan-choice.ts'
import { reconcilePlan } from '../reconcilers/automation-graph-plan.ts'
import { type ControllerSpec, watch } from '../runtime/controller.ts'
import type { Reader } from '../runtime/result.ts'

export const automationGraphPlanController: ControllerSpec<AutomationGraphPlan, AutomationGraphPlanStatus> = {
  name: 'automationgraphplan',
  for: automationGraphPlan,
  ready: 'Succeeded',
  fieldManager: fieldManagers.manager,
  reconcile: reconcilePlan,
  watches: [watch(automationGraph, unfinishedPlans)],
  reads: [automation],
}

function unfinishedPlans(graph: DeepReadonly<AutomationGraph>, read: Reader): ObjectKey[] {
  const plans = read.byOwner(automationGraphPlan, graph.metadata.uid ?? '')
  return plans.filter((plan) => !isFinished(plan)).map((plan) => keyOf(plan.metadata))
}
