import type { Automation, AutomationStatus } from '../api/automation.ts'
import { session } from '../api/session.ts'
import { type ObjectRef, refOf } from '../lib/object.ts'
import type { Reconcile } from '../runtime/controller.ts'
import type { Reader } from '../runtime/result.ts'
import { cachedFiringsOf } from './automation/firings.ts'
import { type PruningRules, planPruning } from './automation/pruning.ts'

/** Deletions of one pass: a change of the limits must not keep everybody else waiting. */
const atOnce = 50
/** Pause before the next ones, in milliseconds. */
const breathMillis = 1000
/** The longest time between two looks, in milliseconds. */
const longestMillis = 24 * 3600 * 1000

/**
 * Deletes what an Automation need not keep of its settled firings: first their Sessions and with them the Runs, later
 * the firings. It has a controller of its own, so that nothing starts later because the past is being cleared.
 */
export function createHistoryReconciler(rules: PruningRules): Reconcile<Automation, AutomationStatus> {
  return (automation, { read, now }) => {
    const firings = cachedFiringsOf(automation, read)
    const detailed = new Set(
      firings.map(({ metadata }) => metadata.uid ?? '').filter((uid) => sessionsOf(uid, read).length > 0),
    )
    const pruning = planPruning({ automation, firings, detailed, rules, now })
    const unwanted = [
      ...pruning.firings.map(refOf),
      ...pruning.details.flatMap(({ metadata }) => sessionsOf(metadata.uid ?? '', read)),
    ]
    const after = unwanted.length > atOnce ? breathMillis : pruning.after
    return {
      delete: unwanted.slice(0, atOnce),
      ...(after !== undefined && { after: Math.min(after, longestMillis) }),
    }
  }
}

function sessionsOf(firing: string, read: Reader): ObjectRef[] {
  // Whoever may edit metadata can write an owner reference; what a Session was made for cannot be changed.
  const own = read.byOwner(session, firing).filter(({ spec }) => spec.firing.uid === firing)
  return own.map(({ metadata }) => refOf({ ...session, metadata }))
}
