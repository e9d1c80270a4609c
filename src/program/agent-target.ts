import type { AgentTarget, AutomationTrigger } from '../api/automation.ts'
import type { Program } from '../api/program.ts'
import type { DeepReadonly } from '../lib/readonly.ts'

/** Id of the one step of an Automation that runs one agent. */
export const agentStepId = 'agent'

/** An agent target as the program of one step that it is: whatever trigger fires, the agent runs. */
export function programOfAgent(
  target: DeepReadonly<AgentTarget>,
  triggers: DeepReadonly<AutomationTrigger[]>,
): Program {
  return {
    entries: triggers.map(({ id, kind }) => ({ id, kind })),
    steps: [
      {
        id: agentStepId,
        kind: 'agent',
        after: triggers.map(({ id }) => ({ id })),
        agent: target.name,
        ...(target.prompt !== undefined && { prompt: target.prompt }),
        ...(target.includeEvent !== undefined && { includeEvent: target.includeEvent }),
        ...(target.timeoutSeconds !== undefined && { timeoutSeconds: target.timeoutSeconds }),
      },
    ],
  }
}
