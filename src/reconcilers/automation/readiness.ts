import { agent, agentVersion } from '../../api/agent.ts'
import { type AutomationSpec, type ReadinessEntry, readinessLimit } from '../../api/automation.ts'
import { automationProgram } from '../../api/automation-program.ts'
import { environment } from '../../api/environment.ts'
import type { Pin } from '../../api/program.ts'
import { serviceAccountType } from '../../kube/core-types.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'
import { conditionOf } from '../../runtime/conditions.ts'
import type { Reader } from '../../runtime/result.ts'
import { triggerProblems } from '../../schedule/trigger-rules.ts'

/** What of an Automation the checks look at. */
export interface ReadinessSubject {
  readonly namespace: string
  readonly graphManaged: boolean
  readonly spec: DeepReadonly<AutomationSpec>
}

type Check = (subject: ReadinessSubject, read: Reader) => ReadinessEntry[]

const checks: readonly Check[] = [
  checkTriggerSettings,
  checkEnvironment,
  checkServiceAccount,
  checkAgentTarget,
  checkProgramTarget,
]

/**
 * The readiness projection: one entry for each check that failed or could not be made; empty means ready. Unknown blocks
 * as a failure does. Owned by the manager alone.
 */
export function readinessOf(subject: ReadinessSubject, read: Reader): ReadinessEntry[] {
  return checks.flatMap((check) => check(subject, read)).slice(0, readinessLimit)
}

function failed(check: string, message: string): ReadinessEntry {
  return { check, state: 'Failed', message }
}

function unknown(check: string, message: string): ReadinessEntry {
  return { check, state: 'Unknown', message }
}

function checkTriggerSettings({ spec }: ReadinessSubject): ReadinessEntry[] {
  return triggerProblems(spec.triggers).map((problem) => failed('triggers', problem))
}

/** the Environment exists and is live. */
function checkEnvironment({ namespace, spec }: ReadinessSubject, read: Reader): ReadinessEntry[] {
  const found = read.get(environment, `${namespace}/${spec.environment}`)
  if (found === undefined || found.metadata.deletionTimestamp !== undefined) {
    return [failed('environment', `Environment ${spec.environment} does not exist; create it.`)]
  }
  const ready = conditionOf(found.status?.conditions, 'Ready')
  if (ready?.status === 'True') return []
  if (ready?.status === 'False') {
    return [failed('environment', `Environment ${spec.environment} is not ready: ${ready.message}`)]
  }
  return [unknown('environment', `Environment ${spec.environment} has not been looked at yet.`)]
}

function checkServiceAccount({ namespace, spec }: ReadinessSubject, read: Reader): ReadinessEntry[] {
  if (read.get(serviceAccountType, `${namespace}/${spec.serviceAccountName}`) !== undefined) return []
  const message = `ServiceAccount ${spec.serviceAccountName} does not exist; create it.`
  return [failed('serviceAccount', message)]
}

function checkAgentTarget({ namespace, spec }: ReadinessSubject, read: Reader): ReadinessEntry[] {
  const target = spec.target.agent
  if (target === undefined) return []
  if (target.version !== undefined) return checkVersion(namespace, target.version, read)
  const found = read.get(agent, `${namespace}/${target.name}`)
  if (found === undefined) return [failed('agent', `Agent ${target.name} does not exist; create it.`)]
  if (found.status?.latestVersion !== undefined) return []
  return [unknown('agent', `Agent ${target.name} has no published version yet; see its conditions.`)]
}

function checkProgramTarget(subject: ReadinessSubject, read: Reader): ReadinessEntry[] {
  const target = subject.spec.target.program
  if (target === undefined) return []
  if (!subject.graphManaged) {
    const message =
      'An Automation written by hand runs an agent: only an AutomationGraph makes programs. Use target.agent.'
    return [failed('target', message)]
  }
  const found = read.get(automationProgram, `${subject.namespace}/${target.name}`)
  if (found === undefined || found.spec.digest !== target.digest) {
    return [failed('target', 'The AutomationProgram does not exist any more; apply a new plan of the graph.')]
  }
  return found.spec.pins.flatMap((pin) => checkPin(subject.namespace, pin, read))
}

function checkPin(namespace: string, pin: DeepReadonly<Pin>, read: Reader): ReadinessEntry[] {
  const found = read.get(agentVersion, `${namespace}/${pin.version}`)
  if (found?.metadata.uid === pin.uid) return []
  const message = `AgentVersion ${pin.version} of Agent ${pin.agent} is gone; apply a new plan of the graph.`
  return [failed('agent', message)]
}

function checkVersion(namespace: string, version: string, read: Reader): ReadinessEntry[] {
  if (read.get(agentVersion, `${namespace}/${version}`) !== undefined) return []
  return [failed('agent', `AgentVersion ${version} does not exist; choose a published version.`)]
}
