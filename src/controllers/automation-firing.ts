import { agent, agentVersion } from '../api/agent.ts'
import { automation } from '../api/automation.ts'
import { type AutomationFiring, type AutomationFiringStatus, automationFiring } from '../api/automation-firing.ts'
import { automationProgram } from '../api/automation-program.ts'
import { environment } from '../api/environment.ts'
import { fieldManagers, settleFinalizer } from '../api/labels.ts'
import { session } from '../api/session.ts'
import { serviceAccountType } from '../kube/core-types.ts'
import { keyOf, type ObjectKey } from '../lib/object.ts'
import { firingsByAutomation } from '../reconcilers/automation-firing/index-by-automation.ts'
import { isSettledFiring } from '../reconcilers/automation-firing/phase.ts'
import type { ProgramTools } from '../reconcilers/automation-firing/program.ts'
import { summarizeFiring } from '../reconcilers/automation-firing/status.ts'
import { firingReconciler } from '../reconcilers/automation-firing.ts'
import { type ControllerSpec, watch, watchOwned } from '../runtime/controller.ts'
import type { Reader } from '../runtime/result.ts'

/** Needs the index {@link firingsByAutomation} on firings. */
export function automationFiringController(
  tools: ProgramTools,
): ControllerSpec<AutomationFiring, AutomationFiringStatus> {
  return {
    name: 'automationfiring',
    for: automationFiring,
    ready: 'Succeeded',
    fieldManager: fieldManagers.manager,
    finalizer: settleFinalizer,
    finalizerAddedBy: 'reconciler',
    reconcile: firingReconciler(tools),
    summarize: summarizeFiring,
    watches: [
      watchOwned(session, automationFiring),
      watch(automation, ({ metadata, spec }, read) => waitingFirings(keyOf(metadata), spec.paused === true, read)),
    ],
    reads: [automationProgram, environment, agent, agentVersion, serviceAccountType],
    concurrency: 8,
  }
}

/**
 * Firings that the Automation has not started yet, as far as is known: those under way do not depend on it, unless it was
 * paused, or is now.
 */
function waitingFirings(key: ObjectKey, isPaused: boolean, read: Reader): ObjectKey[] {
  return read
    .byIndex(automationFiring, firingsByAutomation.name, key)
    .filter((firing) => isPaused || firing.status?.admission === undefined)
    .filter((firing) => !isSettledFiring(firing))
    .map(({ metadata }) => keyOf(metadata))
}
