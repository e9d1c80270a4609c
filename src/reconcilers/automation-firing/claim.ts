import { type Automation, automation } from '../../api/automation.ts'
import { automationFiring } from '../../api/automation-firing.ts'
import { automationProgram } from '../../api/automation-program.ts'
import { labels, managedByValue, settleFinalizer } from '../../api/labels.ts'
import { type KubeObject, namespaceOf } from '../../lib/object.ts'
import { controllerOf, ownedBy } from '../../lib/owner-references.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'
import { readProgram } from '../../program/formats.ts'
import type { ReconcileContext } from '../../runtime/controller.ts'
import type { Reader } from '../../runtime/result.ts'
import type { Firing } from './checks.ts'

type Found = DeepReadonly<Automation>

/**
 * What a firing needs of metadata before anything runs for it, as one apply; undefined where it has all of it. People
 * create firings bare: the Automation becomes their owner, and they get the labels they are found by, and the finalizer
 * where Sessions may be made for them. Firings of other Automations of the same name, or with a controlling owner
 * already, are left as they are.
 */
export function claim(firing: Firing, { read }: ReconcileContext): KubeObject | undefined {
  const { name, namespace, deletionTimestamp } = firing.metadata
  const found = read.get(automation, `${namespace}/${firing.spec.automation.name}`)
  if (found === undefined || !mayOwn(found, firing) || deletionTimestamp !== undefined) return undefined
  const wanted = labelsFor(found)
  const isLabelled = Object.entries(wanted).every(([label, value]) => firing.metadata.labels?.[label] === value)
  if (isLabelled && controllerOf(firing) !== undefined && !lacksFinalizer(firing, found, read)) return undefined
  const finalizers = settles(firing, found, read) ? [settleFinalizer] : undefined
  const owned = { labels: wanted, ownerReferences: [ownedBy(found)] }
  const metadata = { name, ...namespaceOf(firing.metadata), ...owned, ...(finalizers !== undefined && { finalizers }) }
  return { apiVersion: automationFiring.apiVersion, kind: automationFiring.kind, metadata }
}

function labelsFor({ metadata }: Found): Record<string, string> {
  const graph = metadata.labels?.[labels.graph]
  return {
    [labels.managedBy]: managedByValue,
    [labels.automation]: metadata.name,
    ...(graph !== undefined && { [labels.graph]: graph }),
  }
}

function mayOwn({ metadata }: Found, firing: Firing): boolean {
  const { uid } = firing.spec.automation
  const owner = controllerOf(firing)?.uid
  return (uid === undefined || uid === metadata.uid) && (owner === undefined || owner === metadata.uid)
}

/** True where a Session may be made for the firing, and nothing yet keeps it until that has settled. */
function lacksFinalizer(firing: Firing, found: Found, read: Reader): boolean {
  return firing.metadata.finalizers?.includes(settleFinalizer) !== true && settles(firing, found, read)
}

/** True where agents work for the firing: by what it was admitted with, else by what it would be admitted with now. */
function settles({ metadata, status }: Firing, found: Found, read: Reader): boolean {
  const { agent, program } = status?.admission ?? found.spec.target
  return agent !== undefined || hasAgents(`${metadata.namespace}/${program?.name}`, read)
}

/** True for an Automation whose firings have Sessions, as far as is known. */
export function runsAgents({ metadata, spec }: Found, read: Reader): boolean {
  return spec.target.agent !== undefined || hasAgents(`${metadata.namespace}/${spec.target.program?.name}`, read)
}

/** A program that is not known, or cannot be read, may have some. */
function hasAgents(program: string, read: Reader): boolean {
  const found = read.get(automationProgram, program)
  const known = found && readProgram(found.spec)
  return known?.kind !== 'readable' || known.program.steps.some(({ kind }) => kind === 'agent')
}
