import { crdOf } from '../api/crd.ts'
import { kinds } from '../api/kinds.ts'
import { labels, runnerName, settleFinalizer } from '../api/labels.ts'
import { run } from '../api/run.ts'
import type { KubeObject } from '../lib/object.ts'
import { definitionKind, hasSettleFinalizer, sharedOfOthers } from './uninstall-findings.ts'
import { type InstalledManager, releaseOf, type Survey } from './uninstall-survey.ts'

/** One thing to do. */
export interface Step {
  readonly why: string
  readonly command: string
}

/** Kinds that people write. What the operator makes of them goes with them. */
const written = ['AutomationGraph', 'Automation', 'AutomationFiring', 'Agent', 'Environment']

/** Where commands act: in each of these namespaces, or everywhere. */
type Place = `-n ${string}` | '--all-namespaces'

/** What to do so that nothing is left, in an order in which nothing breaks. */
export function stepsOf(survey: Survey): Step[] {
  const isManaged = survey.managers.some(({ isReady }) => isReady)
  return [
    ...deletions(survey, isManaged),
    ...jobSteps(survey),
    ...survey.managers.map(uninstallation),
    ...(survey.workspaces.length > 0 ? workspaceSteps(survey) : []),
    ...sharedSteps(survey),
    ...remainSteps(survey),
  ]
}

/** First the objects, while there is a manager that ends what is under way. */
function deletions(survey: Survey, isManaged: boolean): Step[] {
  const steps = placesOf(
    survey,
    survey.objects.filter(({ kind }) => written.includes(kind)),
  ).map((place) => ({
    why: isManaged
      ? 'delete what people wrote, while the manager ends what is under way: up to two minutes'
      : 'delete what people wrote; no manager is ready to end what is under way',
    command: `kubectl delete ${plurals(written)} --all ${place}${isManaged ? '' : ' --wait=false'}`,
  }))
  const releases = isManaged ? [] : survey.objects.filter(hasSettleFinalizer).map(finalizerStep)
  const made = kinds.map(({ kind }) => kind).filter((kind) => !written.includes(kind))
  const orphans = placesOf(
    survey,
    survey.objects.filter((object) => made.includes(object.kind) && isOrphan(object, survey)),
  )
  const rest = orphans.map((place) => ({
    why: 'delete what the operator made of objects that are gone',
    command: `kubectl delete ${plurals(made)} --all ${place}`,
  }))
  return [...steps, ...releases, ...rest]
}

/**
 * Jobs go with their Runs, which the garbage collector sees to in its time. It leaves them alone when the definition of the
 * owner's kind has gone before, and they would run on.
 */
function jobSteps(survey: Survey): Step[] {
  const owners = [...survey.jobs, ...survey.objects.filter(({ kind }) => kind === run.kind)]
  return placesOf(survey, owners).map((place) => ({
    why: 'wait until no Job is left: without the definitions the garbage collector would not find them any more',
    command: `kubectl delete jobs -l ${labels.run} ${place}`,
  }))
}

/** The place in the list is tested, so that no finalizer of somebody else is taken off. */
function finalizerStep({ kind, metadata }: KubeObject): Step {
  const path = `/metadata/finalizers/${metadata.finalizers?.indexOf(settleFinalizer)}`
  const patch = [
    { op: 'test', path, value: settleFinalizer },
    { op: 'remove', path },
  ]
  return {
    why: `let ${kind} ${metadata.name} go; what it has started is not waited for`,
    command: `kubectl -n ${metadata.namespace} patch ${kind.toLowerCase()}/${metadata.name} --type json -p '${JSON.stringify(patch)}'`,
  }
}

function isOrphan({ metadata }: KubeObject, { objects }: Survey): boolean {
  const uids = new Set(objects.map((object) => object.metadata.uid))
  return metadata.ownerReferences?.some(({ uid }) => uids.has(uid)) !== true
}

function uninstallation({ release, namespace }: InstalledManager): Step {
  const why = 'uninstall the operator'
  if (release !== undefined) return { why, command: `helm uninstall ${release} --namespace ${namespace} --wait` }
  const parts = 'deployments,services,poddisruptionbudgets,networkpolicies,rolebindings,roles,serviceaccounts'
  return { why, command: `kubectl -n ${namespace} delete ${parts} -l app.kubernetes.io/name=graphwright` }
}

function workspaceSteps({ workspaces }: Survey): Step[] {
  const namespaces = [...new Set(workspaces.map(({ metadata }) => metadata.namespace ?? ''))].sort()
  return namespaces.map((namespace) => ({
    why: `delete what the manager kept in ${namespace}`,
    command: `kubectl -n ${namespace} delete serviceaccount,networkpolicy ${runnerName} --ignore-not-found`,
  }))
}

function sharedSteps(survey: Survey): Step[] {
  const owners = [...new Set(sharedOfOthers(survey).map(releaseOf))]
  const steps = owners.map((owner): Step => {
    const why = 'remove the policies and roles of the whole cluster'
    const [namespace, release] = owner?.split('/') ?? []
    if (release !== undefined) return { why, command: `helm uninstall ${release} --namespace ${namespace} --wait` }
    const parts =
      'validatingadmissionpolicybindings,validatingadmissionpolicies,clusterrolebindings,clusterroles,roles,rolebindings'
    return { why, command: `kubectl delete ${parts} -l app.kubernetes.io/name=graphwright --all-namespaces` }
  })
  const names = survey.shared.flatMap(({ kind, metadata }) => (kind === definitionKind ? [metadata.name] : []))
  if (names.length === 0) return steps
  const why = 'delete the definitions, and with them every object that is left of their kinds'
  return [...steps, { why, command: `kubectl delete customresourcedefinitions ${names.join(' ')}` }]
}

function remainSteps({ remains }: Survey): Step[] {
  const namespaces = [...new Set(remains.map(({ metadata }) => metadata.namespace ?? ''))].sort()
  return namespaces.map((namespace) => {
    const here = remains.filter(({ metadata }) => metadata.namespace === namespace)
    const names = here.map(({ kind, metadata }) => `${kind.toLowerCase()}/${metadata.name}`)
    const why = 'delete the recorded outputs, certificates and the Lease, or the whole namespace'
    return { why, command: `kubectl -n ${namespace} delete ${names.join(' ')}` }
  })
}

/** Everywhere, if the whole cluster was looked at; else each namespace that one of these objects is in. */
function placesOf(survey: Survey, objects: readonly KubeObject[]): Place[] {
  if (objects.length === 0) return []
  if (survey.isWholeCluster) return ['--all-namespaces']
  const namespaces = new Set(objects.map(({ metadata }) => metadata.namespace ?? ''))
  return [...namespaces].sort().map((namespace): Place => `-n ${namespace}`)
}

function plurals(names: readonly string[]): string {
  return kinds
    .filter(({ kind }) => names.includes(kind))
    .map((kind) => crdOf(kind).metadata.name)
    .join(',')
}
