import { type Agent, type AgentStatus, agent, agentVersion } from '../api/agent.ts'
import { fieldManagers } from '../api/labels.ts'
import { reconcileAgent } from '../reconcilers/agent.ts'
import { type ControllerSpec, watchOwned } from '../runtime/controller.ts'

export const agentController: ControllerSpec<Agent, AgentStatus> = {
  name: 'agent',
  for: agent,
  ready: 'Ready',
  fieldManager: fieldManagers.manager,
  reconcile: reconcileAgent,
  watches: [watchOwned(agentVersion, agent)],
}
