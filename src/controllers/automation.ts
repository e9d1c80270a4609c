import { agent, agentVersion } from '../api/agent.ts'
import { type Automation, type AutomationStatus, automation } from '../api/automation.ts'
import { automationFiring } from '../api/automation-firing.ts'
import { automationProgram } from '../api/automation-program.ts'
import { environment } from '../api/environment.ts'
import { fieldManagers } from '../api/labels.ts'
import { serviceAccountType } from '../kube/core-types.ts'
import { type KubeObject, keyOf, type ObjectKey } from '../lib/object.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { createAutomationReconciler } from '../reconcilers/automation.ts'
import { firingsByAutomation } from '../reconcilers/automation-firing/index-by-automation.ts'
import { type ControllerSpec, watch } from '../runtime/controller.ts'
import type { Notices } from '../runtime/notices.ts'
import type { Reader } from '../runtime/result.ts'

/**
 * @param requester user name of this manager
 * @param notices where pauses are told of, if anywhere
 */
export function automationController(
  requester: string,
  notices?: Notices,
): ControllerSpec<Automation, AutomationStatus> {
  return {
    name: 'automation',
    for: automation,
    ready: 'Ready',
    fieldManager: fieldManagers.manager,
    reconcile: createAutomationReconciler(requester, notices),
    timely: true,
    // A pass at its instant mostly waits for the API server: as many as the transport sends at once.
    concurrency: 32,
    watches: [
      watch(automationFiring, firingsByAutomation.values),
      watch(environment, (object, read) =>
        automationsThat(object, read, ({ spec }, name) => spec.environment === name),
      ),
      watch(serviceAccountType, (object, read) =>
        automationsThat(object, read, ({ spec }, name) => spec.serviceAccountName === name),
      ),
      watch(agent, (object, read) =>
        automationsThat(object, read, ({ spec }, name) => spec.target.agent?.name === name),
      ),
      watch(automationProgram, (object, read) =>
        automationsThat(object, read, ({ spec }, name) => spec.target.program?.name === name),
      ),
      watch(agentVersion, (object, read) =>
        automationsThat(object, read, (one) => usesAgent(one, object.spec.agent, read)),
      ),
    ],
  }
}

type Seen = DeepReadonly<Automation>

function automationsThat(
  { metadata }: DeepReadonly<KubeObject>,
  read: Reader,
  refer: (automation: Seen, name: string) => boolean,
): ObjectKey[] {
  const automations = read.list(automation, metadata.namespace)
  return automations.filter((one) => refer(one, metadata.name)).map((one) => keyOf(one.metadata))
}

function usesAgent({ metadata, spec }: Seen, name: string, read: Reader): boolean {
  if (spec.target.agent !== undefined) return spec.target.agent.name === name
  const program = read.get(automationProgram, `${metadata.namespace}/${spec.target.program?.name}`)
  return program?.spec.pins.some((pin) => pin.agent === name) ?? false
}
