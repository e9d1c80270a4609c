import { agent, agentVersion } from '../../api/agent.ts'
import { type AgentTarget, automation } from '../../api/automation.ts'
import type { Admission, EnvironmentSnapshot } from '../../api/automation-firing.ts'
import { automationProgram } from '../../api/automation-program.ts'
import { environment } from '../../api/environment.ts'
import type { Pin } from '../../api/program.ts'
import { serviceAccountType } from '../../kube/core-types.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'
import { readProgram } from '../../program/formats.ts'
import type { ReconcileContext } from '../../runtime/controller.ts'
import { checkFiring, type Firing, failed, type Pending, type Rejection, type Target } from './checks.ts'

/** The firing may run: what is frozen for it. */
export interface Admitted {
  readonly kind: 'admitted'
  readonly admission: Admission
}

/**
 * What becomes of a firing that was not admitted. The caches say when to wait; what ends it or starts it is decided by
 * what the API server has: an Environment edited just before the firing was made is the one it runs with.
 */
export async function admit(firing: Firing, context: ReconcileContext): Promise<Admitted | Pending | Rejection> {
  const namespace = firing.metadata.namespace ?? ''
  const { name } = firing.spec.automation
  const cached = context.read.get(automation, `${namespace}/${name}`)
  const glance = checkFiring(firing, cached, context.now)
  if (glance.kind === 'pending') return glance
  const found = await context.live.find(automation, { name, namespace }, context)
  const check = checkFiring(firing, found, context.now)
  return check.kind === 'start' ? freeze(check.automation, check.entry, context) : check
}

async function freeze(
  found: Target,
  entry: string,
  context: ReconcileContext,
): Promise<Admitted | Pending | Rejection> {
  const { metadata, spec } = found
  const work = spec.target.agent ? pinAgent(found, spec.target.agent, context) : pinProgram(found, entry, context)
  if (work.kind !== 'pinned') return work
  const [snapshot, principal] = await Promise.all([snapshotOf(found, context), principalOf(found, context)])
  if (snapshot.kind === 'end') return snapshot
  if (principal.kind === 'end') return principal
  const admission: Admission = {
    automationUID: metadata.uid ?? '',
    automationGeneration: metadata.generation ?? 1,
    entry,
    ...work.target,
    pins: [...work.pins],
    environment: snapshot.value,
    principal: principal.value,
    admittedAt: context.now.toISOString(),
  }
  return { kind: 'admitted', admission }
}

type Pinned = {
  readonly kind: 'pinned'
  readonly target: Pick<Admission, 'agent' | 'program'>
  readonly pins: readonly Pin[]
}

/** The program that the Automation names, in a format that this manager runs. */
function pinProgram({ metadata, spec }: Target, entry: string, { read }: ReconcileContext): Pinned | Rejection {
  const target = spec.target.program
  const found = target && read.get(automationProgram, `${metadata.namespace}/${target.name}`)
  if (target === undefined || found === undefined || found.spec.digest !== target.digest) {
    const message = `The program of Automation ${metadata.name} does not exist any more; apply a new plan of its graph.`
    return failed('ProgramMissing', message)
  }
  const known = readProgram(found.spec)
  if (known.kind === 'unreadable') return failed(known.reason, known.message)
  if (!known.program.entries.some(({ id }) => id === entry)) {
    return failed('EntryUnknown', `The program of Automation ${metadata.name} has no trigger ${entry}.`)
  }
  const { name, digest } = target
  return { kind: 'pinned', target: { program: { name, digest } }, pins: structuredClone(found.spec.pins) as Pin[] }
}

/** An agent written into the Automation: the version it names, else the newest published one. */
function pinAgent(
  { metadata }: Target,
  target: DeepReadonly<AgentTarget>,
  { read }: ReconcileContext,
): Pinned | Pending | Rejection {
  const key = (name: string) => `${metadata.namespace}/${name}`
  const name = target.version ?? read.get(agent, key(target.name))?.status?.latestVersion?.name
  if (name === undefined) {
    if (read.get(agent, key(target.name)) === undefined) {
      return failed('AgentMissing', `Agent ${target.name} does not exist; create it and fire again.`)
    }
    const message = `Agent ${target.name} has no published version yet; see its conditions.`
    return { kind: 'pending', reason: 'AgentNotPublished', message, after: 1000 }
  }
  const version = read.get(agentVersion, key(name))
  if (version === undefined && target.version === undefined) {
    const message = `Version ${name} of Agent ${target.name} is about to be seen.`
    return { kind: 'pending', reason: 'AgentNotPublished', message, after: 100 }
  }
  if (version === undefined || version.spec.agent !== target.name) {
    return failed('AgentMissing', `Agent ${target.name} has no version ${name}; choose a published one.`)
  }
  const uid = version.metadata.uid ?? ''
  const pins = [{ agent: target.name, version: name, digest: version.spec.digest, uid }]
  return { kind: 'pinned', target: { agent: target }, pins }
}

type Frozen<T> = { readonly kind: 'frozen'; readonly value: T } | Rejection

async function snapshotOf({ metadata, spec }: Target, context: ReconcileContext): Promise<Frozen<EnvironmentSnapshot>> {
  const place = { name: spec.environment, namespace: metadata.namespace ?? '' }
  const found = await context.live.find(environment, place, context)
  if (found === undefined || found.metadata.deletionTimestamp !== undefined) {
    return failed('EnvironmentMissing', `Environment ${place.name} does not exist; create it and fire again.`)
  }
  const { uid = '', generation = 1 } = found.metadata
  return { kind: 'frozen', value: { name: place.name, uid, generation, spec: found.spec } }
}

async function principalOf(
  { metadata, spec }: Target,
  context: ReconcileContext,
): Promise<Frozen<Admission['principal']>> {
  const { serviceAccountName } = spec
  const place = { name: serviceAccountName, namespace: metadata.namespace ?? '' }
  const found = await context.live.find(serviceAccountType, place, context)
  if (found === undefined) {
    return failed(
      'ServiceAccountMissing',
      `ServiceAccount ${serviceAccountName} does not exist; create it and fire again.`,
    )
  }
  return { kind: 'frozen', value: { serviceAccountName, uid: found.metadata.uid ?? '' } }
}
