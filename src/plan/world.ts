import type { AutomationSpec } from '../api/automation.ts'
import type { Digest } from '../lib/digest.ts'
import type { DeepReadonly } from '../lib/readonly.ts'

/** The live cluster as far as a plan depends on it. Absent means: there is no such object. */
export interface PlanWorld {
  readonly graph: { readonly name: string; readonly uid: string; readonly namespace: string }
  /** Generation at which the document last changed. */
  readonly revision: number
  /** Digest of the plan that was applied last. */
  readonly appliedPlanDigest?: Digest | undefined
  readonly environment?: { readonly uid: string } | undefined
  readonly serviceAccount?: { readonly uid: string } | undefined
  /** The referenced Agents that exist, by name. */
  readonly agents: Readonly<Record<string, PlannedAgent>>
  /** The Automation that has the graph's name, whoever owns it. */
  readonly automation?: PlannedAutomation | undefined
}

export interface PlannedAgent {
  readonly uid: string
  /** Its newest published version. */
  readonly latestVersion?:
    | { readonly name: string; readonly number: number; readonly digest: Digest; readonly uid: string }
    | undefined
}

export interface PlannedAutomation {
  readonly uid: string
  /** UID of the owner reference with `controller: true`. */
  readonly controllerUid?: string | undefined
  readonly spec: DeepReadonly<AutomationSpec>
}
