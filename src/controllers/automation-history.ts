import { type Automation, type AutomationStatus, automation } from '../api/automation.ts'
import { automationFiring } from '../api/automation-firing.ts'
import { fieldManagers } from '../api/labels.ts'
import { session } from '../api/session.ts'
import type { PruningRules } from '../reconcilers/automation/pruning.ts'
import { createHistoryReconciler } from '../reconcilers/automation-history.ts'
import type { ControllerSpec } from '../runtime/controller.ts'

/**
 * Beside the controller of Automations, which owns their status. That changes whenever one of their firings settles,
 * and wakes this one.
 */
export function automationHistoryController(rules: PruningRules): ControllerSpec<Automation, AutomationStatus> {
  return {
    name: 'automationhistory',
    for: automation,
    ready: 'Ready',
    fieldManager: fieldManagers.manager,
    showsFailures: false,
    reconcile: createHistoryReconciler(rules),
    reads: [automationFiring, session],
    concurrency: 2,
  }
}
