import type { AutomationFiringStatus } from '../../api/automation-firing.ts'
import { annotations } from '../../api/labels.ts'
import { type Session, session } from '../../api/session.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'
import type { ReconcileContext } from '../../runtime/controller.ts'
import type { ReconcileResult } from '../../runtime/result.ts'
import { askToEnd, cancelRequest } from '../cancelling.ts'
import { isOpenSession } from '../session.ts'
import type { Firing } from './checks.ts'

/** Why the firing is to end, in words; undefined while it is not. To delete it is to cancel it. */
export function cancelledBecause(firing: Firing): string | undefined {
  const deleted = firing.metadata.deletionTimestamp === undefined ? undefined : 'the firing was deleted'
  return cancelRequest(firing) ?? deleted
}

/** True for a firing that is to go now, whatever still runs for it: what does goes with it, as Kubernetes gets to it. */
export function isForced({ metadata }: Firing): boolean {
  const isAsked = metadata.annotations?.[annotations.forceDelete] !== undefined
  return isAsked && metadata.deletionTimestamp !== undefined
}

/**
 * What is left to do for a firing that has settled. A manager with an old view may have made a Session for it meanwhile:
 * that ends as well.
 */
export function afterSettlement(firing: Firing, { read }: ReconcileContext): ReconcileResult<AutomationFiringStatus> {
  const uid = firing.metadata.uid ?? ''
  const open = read.byOwner(session, uid).filter((one) => one.spec.firing.uid === uid && isStray(one))
  return { annotate: open.map((one) => askToEnd(one, 'its firing has settled')), finalized: open.length === 0 }
}

function isStray(one: DeepReadonly<Session>): boolean {
  return isOpenSession(one) && cancelRequest(one) === undefined
}
