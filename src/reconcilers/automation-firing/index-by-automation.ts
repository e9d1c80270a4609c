import type { AutomationFiring } from '../../api/automation-firing.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'

/** Index of firings by `namespace/name` of the Automation they name. */
export const firingsByAutomation = {
  name: 'byAutomation',
  values: (firing: DeepReadonly<AutomationFiring>): string[] => [
    `${firing.metadata.namespace}/${firing.spec.automation.name}`,
  ],
} as const
