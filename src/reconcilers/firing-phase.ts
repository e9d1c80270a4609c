import type { AutomationFiring, FiringPhase } from '../api/automation-firing.ts'
import type { DeepReadonly } from '../lib/readonly.ts'

const settled: readonly FiringPhase[] = ['Succeeded', 'Failed', 'Cancelled', 'Skipped']

/** True when the firing will not change any more. */
export function isSettledFiring(firing: DeepReadonly<AutomationFiring>): boolean {
  const phase = firing.status?.phase
  return phase !== undefined && settled.includes(phase)
}
