import type { KubeObject, ResourceType } from '../lib/object.ts'
import { agent, agentVersion } from './agent.ts'
import { automation } from './automation.ts'
import { automationFiring } from './automation-firing.ts'
import { automationGraph } from './automation-graph.ts'
import { automationGraphPlan } from './automation-graph-plan.ts'
import { automationProgram } from './automation-program.ts'
import { environment } from './environment.ts'
import { run } from './run.ts'
import { session } from './session.ts'

/** Every kind of the API group, in the order in which people meet them. */
export const kinds = [
  automationGraph,
  automationGraphPlan,
  automationProgram,
  automation,
  automationFiring,
  environment,
  agent,
  agentVersion,
  session,
  run,
] as const satisfies readonly ResourceType<KubeObject>[]
