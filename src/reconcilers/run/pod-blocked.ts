import { beginningOf } from '../../lib/text.ts'
import type { Observed, PodOutcome } from './incarnation.ts'
import { mainState, quote, statusesOf } from './pod-state.ts'

/** How long a pod may fail to start before its run is given up, in milliseconds. */
const patienceMillis = 120_000

/** Nothing but a change of the name helps: the kubelet does not even try. */
const hopeless = new Set(['InvalidImageName', 'ErrImageNeverPull'])

const pullFailures = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'RegistryUnavailable',
  'SignatureValidationFailed',
  'ImageInspectError',
])

const creationFailures = new Set([
  'CreateContainerConfigError',
  'CreateContainerError',
  'PreCreateHookError',
  'PostStartHookError',
  'RunContainerError',
])

/** What keeps a pod from starting: an image, a setting, or no node to take it. Undefined where nothing does. */
export function blockedStart(observed: Observed): PodOutcome | undefined {
  const { pod } = observed
  if (pod === undefined) return notMade(observed)
  if (pod.metadata.deletionTimestamp !== undefined) return undefined
  const { running, terminated } = mainState(pod)
  if (running !== undefined || terminated !== undefined) return undefined
  return blockedContainer(observed) ?? unschedulable(observed)
}

function blockedContainer(observed: Observed): PodOutcome | undefined {
  for (const { name, image, state } of statusesOf(observed.pod)) {
    const reason = state?.waiting?.reason ?? ''
    const said = state?.waiting?.message
    if (hopeless.has(reason)) return refused(observed, image, said, 0)
    if (pullFailures.has(reason)) return refused(observed, image, said, patienceMillis)
    if (creationFailures.has(reason)) return uncreated(observed, name, said)
    if (reason === 'CrashLoopBackOff') {
      const message = `The container ${name} ends as soon as it starts. Its log says why: kubectl logs with -c ${name}`
      return { kind: 'waiting', blocked: true, reason: 'RunnerNotStarting', message }
    }
  }
  return undefined
}

function refused(
  observed: Observed,
  image: string | undefined,
  said: string | undefined,
  patience: number,
): PodOutcome {
  const what = `The image ${image} cannot be pulled. Check its name, the registry and imagePullSecrets of the Environment`
  return giveUpAfter(patience, observed, 'ImageUnavailable', what, said)
}

function uncreated(observed: Observed, container: string, said: string | undefined): PodOutcome {
  const what = `The container ${container} cannot be created. Check the Environment and the image`
  return giveUpAfter(patienceMillis, observed, 'ContainerCannotStart', what, said)
}

/** Waits, and gives up when nothing changed for `patience` milliseconds. The kubelet's own words change while it tries. */
function giveUpAfter(
  patience: number,
  { blockedSince, now }: Observed,
  reason: string,
  message: string,
  said: string | undefined,
): PodOutcome {
  const since = blockedSince === undefined ? now.getTime() : Date.parse(blockedSince)
  const left = since + patience - now.getTime()
  if (left > 0) return { kind: 'waiting', blocked: true, reason, message, again: left }
  return { kind: 'failed', cause: 'Refused', reason, message, ...quote(said) }
}

/** A pod that has its node is placed, whatever a scheduler that lost the race says about it. */
function unschedulable({ pod }: Observed): PodOutcome | undefined {
  if (pod?.spec.nodeName !== undefined) return undefined
  const scheduled = pod?.status?.conditions?.find(({ type }) => type === 'PodScheduled')
  if (scheduled?.status !== 'False' || scheduled.reason !== 'Unschedulable') return undefined
  const found = obstacles(scheduled.message)
  const why = found.length === 0 ? '' : ` (${found.join(', ')})`
  const message = `No node takes the pod${why}. Uncordon or add nodes, or change resources, nodeSelector or tolerations of the Environment`
  return { kind: 'waiting', blocked: false, reason: 'Unschedulable', message }
}

/**
 * What the scheduler found in the way on its nodes, without on how many of them: those numbers change by themselves.
 * It says `0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu. preemption: …`.
 */
function obstacles(said = ''): string[] {
  const list = /^0\/\d+ nodes are available: (.+?)\.(?:$| )/.exec(said)?.[1]
  if (list === undefined) return said.startsWith('no nodes available') ? ['there are no nodes'] : []
  const each = list.split(', ').map((part) => part.replace(/^\d+ (node\(s\) )?/, (_, nodes) => (nodes ? 'nodes ' : '')))
  return [...new Set(each)]
    .sort()
    .map((part) => beginningOf(part, 128))
    .slice(0, 5)
}

/** The Job controller may not make the pod. It goes on trying, and so its words are made free of what changes. */
function notMade({ refusal }: Observed): PodOutcome | undefined {
  if (refusal === undefined) return undefined
  const quota = /exceeded quota: ([^,\s]+)/.exec(refusal)?.[1]
  if (quota !== undefined) {
    const message = `The ResourceQuota ${quota} of the namespace has no room for the pod. It starts when there is; raise the quota or let other pods end`
    return { kind: 'waiting', blocked: false, reason: 'QuotaExceeded', message }
  }
  const detail = refusal.replace(/^Error creating: /, '').replace(/pods "[^"]*"/g, 'the pod')
  const message = 'The pod cannot be made; the Environment or the namespace asks for something that is not allowed'
  return { kind: 'waiting', blocked: false, reason: 'PodRefused', message, ...quote(detail) }
}
