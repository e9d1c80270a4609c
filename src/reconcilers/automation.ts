import { type Automation, type AutomationStatus, maxActiveFirings } from '../api/automation.ts'
import { type AutomationFiring, automationFiring } from '../api/automation-firing.ts'
import { automationGraph } from '../api/automation-graph.ts'
import type { FiringReference } from '../api/references.ts'
import { keyOf } from '../lib/object.ts'
import { controllerOf } from '../lib/owner-references.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { setCondition } from '../runtime/conditions.ts'
import type { ReconcileContext } from '../runtime/controller.ts'
import type { ReconcileResult } from '../runtime/result.ts'
import { describeTriggers } from '../schedule/describe.ts'
import { hasSchedule } from '../schedule/trigger-rules.ts'
import { readinessOf } from './automation/readiness.ts'
import { firingsByAutomation } from './automation-firing/index-by-automation.ts'
import { isSettledFiring } from './automation-firing/phase.ts'

type Firing = DeepReadonly<AutomationFiring>

/**
 * Projects readiness and starts firings. Moving a firing into `active[]` is what starts it: the write is a
 * compare-and-set on this object, so that two managers cannot both decide. A firing is started only while the
 * Automation is active and ready; firings that must not start are ended by their own reconciler.
 */
export function reconcileAutomation(
  automation: DeepReadonly<Automation>,
  { read, now }: ReconcileContext,
): ReconcileResult<AutomationStatus> {
  const { metadata, spec } = automation
  const readiness = readinessOf(
    { namespace: metadata.namespace ?? '', graphManaged: isGraphManaged(automation), spec },
    read,
  )
  const state = spec.paused === true ? 'Paused' : readiness.length > 0 ? 'NotReady' : 'Active'
  const firings = read
    .byIndex(automationFiring, firingsByAutomation.name, keyOf(metadata))
    .filter(({ spec: { automation: named } }) => named.uid === undefined || named.uid === metadata.uid)
  const last = lastSettled(firings) ?? automation.status?.last
  const status: AutomationStatus = {
    observedGeneration: metadata.generation,
    state,
    trigger: describeTriggers(spec.triggers),
    next: hasSchedule(spec.triggers) ? 'not scheduled by this release' : 'when fired by hand',
    readiness,
    active: activeFirings(automation.status?.active ?? [], firings, state === 'Active'),
    ...(last !== undefined && { last: { ...last } }),
    conditions: setCondition(
      automation.status?.conditions,
      readiness.length === 0
        ? { type: 'Ready', status: 'True', reason: 'Ready', message: 'Every check passed.' }
        : {
            type: 'Ready',
            status: 'False',
            reason: 'NotReady',
            message: readiness.map((entry) => entry.message).join(' '),
          },
      metadata.generation ?? 0,
      now,
    ),
  }
  return { status }
}

function isGraphManaged(automation: DeepReadonly<Automation>): boolean {
  return controllerOf(automation)?.kind === automationGraph.kind
}

/** Started firings that have not settled, and, where the Automation may start some, the oldest of those that wait. */
export function activeFirings(
  recorded: readonly Readonly<FiringReference>[],
  firings: readonly Firing[],
  mayStart: boolean,
): FiringReference[] {
  const unsettled = firings.filter((firing) => !isSettledFiring(firing))
  const known = new Set(unsettled.map((firing) => firing.metadata.uid))
  const kept = recorded.filter(({ uid }) => known.has(uid)).map((reference) => ({ ...reference }))
  if (!mayStart) return kept
  const started = new Set(kept.map(({ uid }) => uid))
  const waiting = unsettled
    .filter(({ metadata }) => !started.has(metadata.uid ?? '') && metadata.deletionTimestamp === undefined)
    .sort(byAge)
    .map(({ metadata }) => ({ name: metadata.name, uid: metadata.uid ?? '' }))
  return [...kept, ...waiting].slice(0, Math.max(maxActiveFirings, kept.length))
}

function byAge(a: Firing, b: Firing): number {
  const [left, right] = [a, b].map(({ metadata }) => `${metadata.creationTimestamp} ${metadata.name}`)
  return (left ?? '') < (right ?? '') ? -1 : 1
}

function lastSettled(firings: readonly Firing[]): AutomationStatus['last'] {
  let last: AutomationStatus['last']
  for (const { metadata, status } of firings) {
    if (status?.settledAt === undefined || status.phase === undefined) continue
    if (last !== undefined && last.time >= status.settledAt) continue
    last = { firing: metadata.name, result: status.phase, time: status.settledAt }
  }
  return last
}
