import { automationFiring } from '../api/automation-firing.ts'
import { automationGraphPlan } from '../api/automation-graph-plan.ts'
import { podType } from '../kube/core-types.ts'
import { type PruningRules, pruningRules } from '../reconcilers/automation/pruning.ts'
import { firingsByAutomation } from '../reconcilers/automation-firing/index-by-automation.ts'
import { trimPlan } from '../reconcilers/automation-graph/cached-plan.ts'
import type { JobSettings } from '../reconcilers/run/job-settings.ts'
import type { ContentStore } from '../runtime/content-store.ts'
import type { Manager } from '../runtime/manager.ts'
import type { Notices } from '../runtime/notices.ts'
import type { SchemaValidator } from '../runtime/schema-validator.ts'
import { agentController } from './agent.ts'
import { automationController } from './automation.ts'
import { automationFiringController } from './automation-firing.ts'
import { automationGraphController } from './automation-graph.ts'
import { automationGraphPlanController } from './automation-graph-plan.ts'
import { automationHistoryController } from './automation-history.ts'
import { environmentController } from './environment.ts'
import { runController, runPodSelector } from './run.ts'
import { sessionController } from './session.ts'

/** What the controllers need beside the API server. */
export interface ControllerDependencies {
  /** User name of this manager: it approves plans where the graph says `Automatic`. */
  readonly approver: string
  readonly contents: ContentStore
  readonly schemas: SchemaValidator
  readonly jobs: JobSettings
  /** Namespace that the operator is installed in: where the pods' gateway is. */
  readonly operatorNamespace: string
  /** Where Automations that pause themselves are told of, if anywhere. */
  readonly notices?: Notices | undefined
  /** Default {@link pruningRules}. */
  readonly pruning?: PruningRules
}

/** Every controller of the operator. */
export function addControllers(manager: Manager, dependencies: ControllerDependencies): void {
  const { approver, contents, schemas, jobs, operatorNamespace, notices } = dependencies
  manager.informer(podType, { labelSelector: runPodSelector })
  manager.informer(automationFiring, { indexes: { [firingsByAutomation.name]: firingsByAutomation.values } })
  manager.informer(automationGraphPlan, { trim: trimPlan })
  manager.addController(automationGraphController(approver))
  manager.addController(automationGraphPlanController)
  manager.addController(automationController(approver, notices))
  manager.addController(automationHistoryController(dependencies.pruning ?? pruningRules))
  manager.addController(automationFiringController({ contents, schemas }))
  manager.addController(sessionController)
  manager.addController(runController({ settings: jobs, contents }))
  manager.addController(environmentController({ operatorNamespace, settings: jobs }))
  manager.addController(agentController)
}
