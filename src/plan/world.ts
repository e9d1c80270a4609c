import type { Agent } from '../api/agent.ts'
import type { Automation, AutomationSpec } from '../api/automation.ts'
import type { Digest } from '../lib/digest.ts'
import type { KubeObject } from '../lib/object.ts'
import { controllerOf } from '../lib/owner-references.ts'
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

/** The objects that a plan depends on, by the names in the graph; undefined where there is none. */
export interface FoundObjects extends Pick<PlanWorld, 'graph' | 'revision' | 'appliedPlanDigest'> {
  readonly environment: DeepReadonly<KubeObject> | undefined
  readonly serviceAccount: DeepReadonly<KubeObject> | undefined
  readonly agents: readonly (DeepReadonly<Agent> | undefined)[]
  readonly automation: DeepReadonly<Automation> | undefined
}

/** The world that was found. What is being deleted is as good as gone, the Automation apart: its name is still taken. */
export function planWorldOf({ environment, serviceAccount, agents, automation, ...rest }: FoundObjects): PlanWorld {
  return {
    ...rest,
    environment: uidOf(environment),
    serviceAccount: uidOf(serviceAccount),
    agents: Object.fromEntries(agents.flatMap(plannedAgent)),
    automation: automation && {
      uid: automation.metadata.uid ?? '',
      controllerUid: controllerOf(automation)?.uid,
      spec: automation.spec,
    },
  }
}

function plannedAgent(agent: DeepReadonly<Agent> | undefined): [string, PlannedAgent][] {
  const found = uidOf(agent)
  if (agent === undefined || found === undefined) return []
  return [[agent.metadata.name, { ...found, latestVersion: agent.status?.latestVersion }]]
}

function uidOf(object: DeepReadonly<KubeObject> | undefined): { readonly uid: string } | undefined {
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) return undefined
  return { uid: object.metadata.uid ?? '' }
}
