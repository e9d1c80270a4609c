import { agent, agentVersion } from '../../api/agent.ts'
import { type AutomationSpec, type ReadinessEntry, readinessLimit } from '../../api/automation.ts'
import { automationProgram } from '../../api/automation-program.ts'
import { environment } from '../../api/environment.ts'
import type { Pin } from '../../api/program.ts'
import { serviceAccountType } from '../../kube/core-types.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'
import { readProgram } from '../../program/formats.ts'
import { conditionOf } from '../../runtime/conditions.ts'
import type { Reader } from '../../runtime/result.ts'
import { triggerProblems } from '../../schedule/trigger-rules.ts'
import { imageOf } from '../run/pod-spec.ts'

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
  checkImages,
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

/** N-167: whom the Automation acts as exists. */
function checkServiceAccount({ namespace, spec }: ReadinessSubject, read: Reader): ReadinessEntry[] {
  const found = read.get(serviceAccountType, `${namespace}/${spec.serviceAccountName}`)
  // The cache holds what the API server has listed: an answer that failed is never taken for a deletion (N-173).
  if (found !== undefined && found.metadata.deletionTimestamp === undefined) return []
  const message = `ServiceAccount ${spec.serviceAccountName} does not exist; create it.`
  return [failed('serviceAccount', message)]
}

/** the Agent exists, and has the version that would run. */
function checkAgentTarget({ namespace, spec }: ReadinessSubject, read: Reader): ReadinessEntry[] {
  const target = spec.target.agent
  if (target === undefined) return []
  if (target.version !== undefined) return checkVersion(namespace, target.name, target.version, read)
  const found = read.get(agent, `${namespace}/${target.name}`)
  if (found === undefined || found.metadata.deletionTimestamp !== undefined) {
    return [failed('agent', `Agent ${target.name} does not exist; create it.`)]
  }
  if (found.status?.latestVersion !== undefined) return []
  const ready = conditionOf(found.status?.conditions, 'Ready')
  if (ready?.status === 'False') return [failed('agent', `Agent ${target.name} is not ready: ${ready.message}`)]
  return [unknown('agent', `Agent ${target.name} has no published version yet; see its conditions.`)]
}

/** the program is the one that was applied, and this operator runs it. */
function checkProgramTarget(subject: ReadinessSubject, read: Reader): ReadinessEntry[] {
  const target = subject.spec.target.program
  if (target === undefined) return []
  if (!subject.graphManaged) {
    const message =
      'An Automation written by hand runs an agent: only an AutomationGraph makes programs. Use target.agent.'
    return [failed('target', message)]
  }
  const found = programOf(subject, read)
  if (found === undefined) {
    return [failed('target', 'The AutomationProgram does not exist any more; apply a new plan of the graph.')]
  }
  const known = readProgram(found.spec)
  if (known.kind === 'unreadable') return [failed('target', known.message)]
  return found.spec.pins.flatMap((pin) => checkPin(subject.namespace, pin, read))
}

function programOf({ namespace, spec }: ReadinessSubject, read: Reader) {
  const target = spec.target.program
  const found = target && read.get(automationProgram, `${namespace}/${target.name}`)
  return found?.spec.digest === target?.digest ? found : undefined
}

function checkPin(namespace: string, pin: DeepReadonly<Pin>, read: Reader): ReadinessEntry[] {
  const found = read.get(agentVersion, `${namespace}/${pin.version}`)
  if (found?.metadata.uid === pin.uid) return []
  const message = `AgentVersion ${pin.version} of Agent ${pin.agent} is gone; apply a new plan of the graph.`
  return [failed('agent', message)]
}

function checkVersion(namespace: string, agentName: string, version: string, read: Reader): ReadinessEntry[] {
  if (read.get(agentVersion, `${namespace}/${version}`)?.spec.agent === agentName) return []
  return [failed('agent', `Agent ${agentName} has no AgentVersion ${version}; choose a published version.`)]
}

/** Each container has an image: its Agent's, else that of the Environment. What is not there yet is told by other checks. */
function checkImages(subject: ReadinessSubject, read: Reader): ReadinessEntry[] {
  const { namespace, spec } = subject
  const place = read.get(environment, `${namespace}/${spec.environment}`)
  if (place === undefined) return []
  return versionsOf(subject, read).flatMap((name) => {
    const version = read.get(agentVersion, `${namespace}/${name}`)
    if (version === undefined || imageOf(place.spec, version.spec) !== undefined) return []
    const message = `Neither Environment ${spec.environment} nor Agent ${version.spec.agent} names an image; set image in one of them.`
    return [failed('image', message)]
  })
}

/** Names of the AgentVersions that would run now. */
function versionsOf(subject: ReadinessSubject, read: Reader): string[] {
  const target = subject.spec.target.agent
  if (target === undefined) return programOf(subject, read)?.spec.pins.map(({ version }) => version) ?? []
  const newest = read.get(agent, `${subject.namespace}/${target.name}`)?.status?.latestVersion?.name
  return [target.version ?? newest].filter((name) => name !== undefined)
}
