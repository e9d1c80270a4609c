import { type AutomationFiring, automationFiring } from '../api/automation-firing.ts'
import { settleFinalizer } from '../api/labels.ts'
import type { Job } from '../kube/core-types.ts'
import type { KubeObject } from '../lib/object.ts'
import { isSettled } from './receipt.ts'
import { releaseOf, releasesOf, type Survey } from './uninstall-survey.ts'

/**
 * What an uninstallation does to it: `breaks` goes wrong unless it is dealt with before, `lost` goes with the definition of
 * its kind, `left` stays until it is deleted.
 */
export type Effect = 'breaks' | 'lost' | 'left'

/** Objects with the same fate. */
export interface Finding {
  /** Stable, for scripts. */
  readonly code:
    | 'firings_under_way'
    | 'jobs_running'
    | 'jobs_ended'
    | 'finalizers'
    | 'objects'
    | 'workspaces'
    | 'remains'
    | 'policies_and_roles'
    | 'definitions'
  readonly effect: Effect
  /** For people. */
  readonly message: string
  readonly objects: readonly Found[]
}

export interface Found {
  readonly kind: string
  readonly namespace: string | undefined
  readonly name: string
  /** The phase, or whatever else is worth to know. */
  readonly detail?: string
}

export const definitionKind = 'CustomResourceDefinition'

/** What an uninstallation would break, lose or leave behind; empty where there is nothing of Graphwright left to see. */
export function findingsOf(survey: Survey): Finding[] {
  const firings = survey.objects.filter(isFiring)
  const definitions = survey.shared.filter(({ kind }) => kind === definitionKind)
  const findings: Finding[] = [
    {
      code: 'firings_under_way',
      effect: 'breaks',
      message: 'firings are under way: without a manager they never end, and cannot be deleted',
      objects: firings.filter((firing) => !isSettled(firing)).map(foundFiring),
    },
    {
      code: 'jobs_running',
      effect: 'breaks',
      message: 'Jobs are running: without a gateway their results are lost',
      objects: survey.jobs.filter((job) => !hasEnded(job)).map(found),
    },
    {
      code: 'finalizers',
      effect: 'breaks',
      message: `objects have the finalizer ${settleFinalizer}, which a manager alone takes off`,
      objects: survey.objects.filter(hasSettleFinalizer).map(found),
    },
    {
      code: 'objects',
      effect: 'lost',
      message: 'objects go with the definitions of their kinds, and are served by nobody until then',
      objects: survey.objects.map(found),
    },
    {
      code: 'jobs_ended',
      effect: 'left',
      message: 'Jobs have ended, and stay if their Runs go together with the definition',
      objects: survey.jobs.filter(hasEnded).map(found),
    },
    {
      code: 'workspaces',
      effect: 'left',
      message: 'what the manager keeps in workspaces stays',
      objects: survey.workspaces.map(found),
    },
    {
      code: 'policies_and_roles',
      effect: 'left',
      message: 'policies and roles of the whole cluster stay, because the release of the operator does not own them',
      objects: sharedOfOthers(survey).map(found),
    },
    {
      code: 'definitions',
      effect: 'left',
      message: 'the definitions of the kinds stay: Helm keeps them',
      objects: definitions.map(found),
    },
    {
      code: 'remains',
      effect: 'left',
      message: 'the recorded outputs, certificates and the Lease stay',
      objects: survey.remains.map(found),
    },
  ]
  return findings.filter(({ objects }) => objects.length > 0)
}

/** Policies and roles that do not go with the release of a manager that was found. */
export function sharedOfOthers({ managers, shared }: Survey): KubeObject[] {
  const releases = releasesOf(managers)
  return shared.filter((object) => object.kind !== definitionKind && !releases.has(releaseOf(object) ?? ''))
}

/** It cannot be deleted before somebody takes our finalizer off. */
export function hasSettleFinalizer({ metadata }: KubeObject): boolean {
  return metadata.finalizers?.includes(settleFinalizer) === true
}

function isFiring(object: KubeObject): object is AutomationFiring {
  return object.kind === automationFiring.kind
}

function hasEnded({ status }: Job): boolean {
  return (
    status?.conditions?.some(({ type, status: is }) => (type === 'Complete' || type === 'Failed') && is === 'True') ===
    true
  )
}

function found({ kind, metadata }: KubeObject): Found {
  return { kind, namespace: metadata.namespace, name: metadata.name }
}

function foundFiring(firing: AutomationFiring): Found {
  return { ...found(firing), detail: firing.status?.phase ?? 'Pending' }
}
