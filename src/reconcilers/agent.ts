import { type Agent, type AgentStatus, type AgentVersion, agentVersion } from '../api/agent.ts'
import { labels } from '../api/labels.ts'
import { digestJson } from '../lib/digest.ts'
import { agentVersionName } from '../lib/names.ts'
import { namespaceOf } from '../lib/object.ts'
import { isControlledBy } from '../lib/owner-references.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { type ConditionInput, setCondition } from '../runtime/conditions.ts'
import type { ReconcileContext } from '../runtime/controller.ts'
import { type ReconcileResult, Terminal } from '../runtime/result.ts'

type Seen = DeepReadonly<Agent>
type Version = DeepReadonly<AgentVersion>

/**
 * Publishes the configuration of an Agent: an immutable AgentVersion for each change of what it runs. The name is the
 * lock: two managers that publish at once publish one version.
 */
export function reconcileAgent(agent: Seen, { read, now }: ReconcileContext): ReconcileResult<AgentStatus> {
  const versions = read.list(agentVersion, agent.metadata.namespace)
  return decideAgent(agent, versions, now)
}

/** @param versions all AgentVersions of the namespace */
export function decideAgent(agent: Seen, versions: readonly Version[], now: Date): ReconcileResult<AgentStatus> {
  const { runtime, repeatSafe } = agent.spec
  const digest = digestJson({ runtime, repeatSafe })
  const newest = newestOf(versions.filter((version) => isControlledBy(version, agent)))
  if (newest?.spec.digest === digest) return { status: statusOf(agent, newest, now) }
  // The version wakes its Agent, and then there is something to say.
  return { create: [nextVersion(agent, versions, digest)] }
}

function newestOf(versions: readonly Version[]): Version | undefined {
  return versions.reduce<Version | undefined>(
    (newest, version) => (newest === undefined || version.spec.version > newest.spec.version ? version : newest),
    undefined,
  )
}

/** Numbers are never used twice, not even by another Agent that had the same name before. */
function nextVersion(agent: Seen, versions: readonly Version[], digest: string): AgentVersion {
  const { name } = agent.metadata
  const { runtime, repeatSafe } = structuredClone(agent.spec) as Agent['spec']
  const namesakes = versions.filter(({ spec }) => spec.agent === name).map(({ spec }) => spec.version)
  const number = Math.max(0, agent.status?.latestVersion?.number ?? 0, ...namesakes) + 1
  const versionName = agentVersionName(name, number)
  if (versionName.length > 63) {
    const message =
      'The name of the Agent leaves no room for the number of a version: choose one of at most 57 characters'
    throw new Terminal('NameTooLong', message)
  }
  return {
    apiVersion: agentVersion.apiVersion,
    kind: agentVersion.kind,
    metadata: {
      name: versionName,
      ...namespaceOf(agent.metadata),
      labels: { [labels.agent]: name },
    },
    spec: { agent: name, version: number, digest, runtime, repeatSafe },
  }
}

const published: ConditionInput = {
  type: 'Ready',
  status: 'True',
  reason: 'Published',
  message: 'The newest version is what the spec says',
}

function statusOf({ metadata, status }: Seen, newest: Version, now: Date): AgentStatus {
  return {
    latestVersion: versionReference(newest),
    conditions: setCondition(status?.conditions, published, metadata.generation ?? 0, now),
  }
}

function versionReference({ metadata, spec }: Version): NonNullable<AgentStatus['latestVersion']> {
  return { name: metadata.name, number: spec.version, digest: spec.digest, uid: metadata.uid ?? '' }
}
