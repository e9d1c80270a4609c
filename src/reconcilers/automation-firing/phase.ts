import { type AutomationFiringStatus, type FiringPhase, settledFiringPhases } from '../../api/automation-firing.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'

/** True for the phase of a firing that will not change any more. */
export function isSettledPhase(phase: FiringPhase | undefined): boolean {
  return phase !== undefined && settledFiringPhases.includes(phase)
}

/** True when the firing will not change any more. */
export function isSettledFiring(firing: { readonly status?: DeepReadonly<AutomationFiringStatus> }): boolean {
  return isSettledPhase(firing.status?.phase)
}
