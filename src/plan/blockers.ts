import type { Blocker, PlanContent } from '../api/automation-graph-plan.ts'
import type { CompiledGraph } from '../graph/compiled.ts'
import type { PlanWorld } from './world.ts'

/** Longer lists do not fit into a plan. The rest comes into the plan that follows when some of these are resolved. */
const maxListed = 100

type RequiredInput = PlanContent['requiredInputs'][number]

/** What stands in the way of applying, each with what to do about it. */
export function blockersOf(compiled: CompiledGraph, world: PlanWorld): Blocker[] {
  const { environment, serviceAccountName } = compiled.document
  const { name, namespace } = world.graph
  const blockers: Blocker[] = []
  if (world.environment === undefined) {
    blockers.push({
      code: 'environment_missing',
      detail: `there is no Environment ${environment} in ${namespace}: create it, or name another one in the graph`,
    })
  }
  if (world.serviceAccount === undefined) {
    blockers.push({
      code: 'service_account_missing',
      detail: `there is no ServiceAccount ${serviceAccountName} in ${namespace}: create it, or name another one in the graph`,
    })
  }
  if (isConflict(world)) {
    blockers.push({
      code: 'automation_conflict',
      detail: `the Automation ${name} exists and is not this graph's; a graph adopts none: delete that Automation, or create the graph under another name`,
    })
  }
  blockers.push(...compiled.agents.flatMap((agent) => agentBlocker(agent, world) ?? []))
  return blockers.slice(0, maxListed)
}

function agentBlocker(agent: string, world: PlanWorld): Blocker | undefined {
  const live = agentOf(world, agent)
  if (live === undefined) {
    return {
      code: 'agent_missing',
      detail: `there is no Agent ${agent} in ${world.graph.namespace}: create it, or name another one in the graph`,
    }
  }
  if (live.latestVersion !== undefined) return undefined
  return {
    code: 'agent_unpublished',
    detail: `Agent ${agent} has no published version yet: see the conditions of the Agent for what it waits for`,
  }
}

/** The Agent, unless the record only inherits a member of that name. */
export function agentOf(world: PlanWorld, name: string): PlanWorld['agents'][string] | undefined {
  return Object.hasOwn(world.agents, name) ? world.agents[name] : undefined
}

/** True where the Automation of that name has another owner or none. */
export function isConflict(world: PlanWorld): boolean {
  return world.automation !== undefined && world.automation.controllerUid !== world.graph.uid
}

/** What people must still create. */
export function requiredInputsOf(compiled: CompiledGraph, world: PlanWorld): RequiredInput[] {
  const { environment, serviceAccountName } = compiled.document
  const inputs: RequiredInput[] = []
  if (world.environment === undefined) {
    inputs.push({ kind: 'Environment', name: environment, detail: 'where the pods of the steps run' })
  }
  if (world.serviceAccount === undefined) {
    inputs.push({ kind: 'ServiceAccount', name: serviceAccountName, detail: 'the identity the automation acts as' })
  }
  for (const name of compiled.agents) {
    if (agentOf(world, name) === undefined) inputs.push({ kind: 'Agent', name, detail: 'the agent that steps run' })
  }
  return inputs.slice(0, maxListed)
}
