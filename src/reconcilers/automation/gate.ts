import type { Automation, PendingFiring, ReadinessEntry } from '../../api/automation.ts'
import type { AutomationFiring } from '../../api/automation-firing.ts'
import type { Pause } from '../../api/pause.ts'
import type { FiringReference } from '../../api/references.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'
import { isSettledFiring } from '../automation-firing/phase.ts'

type Firing = DeepReadonly<AutomationFiring>

/**
 * Which firings an Automation lets start.
 *
 * - `open`: all. `closed`: none.
 * - `byHand`: it paused itself, and only people may try (N-159).
 * - `probing`: it paused itself because of something that may pass. Beside those of people, one firing is let through when
 *   the time has come and none is under way that shows how things are (N-154).
 */
export type Gate =
  | { readonly kind: 'open' | 'closed' | 'byHand' }
  | { readonly kind: 'probing'; readonly probeAt: Date; readonly isBusy: boolean; readonly isDue: boolean }

export function gateOf(
  { spec, status }: DeepReadonly<Automation>,
  readiness: readonly ReadinessEntry[],
  pause: Pause | undefined,
  firings: readonly Firing[],
  now: Date,
): Gate {
  if (spec.paused === true || readiness.length > 0) return { kind: 'closed' }
  if (pause === undefined) return { kind: 'open' }
  if (pause.nextProbe === undefined) return { kind: 'byHand' }
  const started = new Set(status?.active?.map(({ uid }) => uid))
  const isBusy = firings.some(
    (firing) => firing.spec.trigger !== 'manual' && started.has(firing.metadata.uid ?? '') && !isSettledFiring(firing),
  )
  const probeAt = new Date(pause.nextProbe)
  return { kind: 'probing', probeAt, isBusy, isDue: probeAt <= now }
}

interface Queue {
  /** Decided firings that have not started. */
  readonly pending: readonly PendingFiring[]
  /** Firings that stand in no list yet, oldest first. */
  readonly arrived: readonly FiringReference[]
}

/** A queue as a gate parts it: who may start now, and who waits until it opens. */
interface Passage {
  readonly passed: Queue
  readonly held: Queue
}

/** Parts a queue by who may start now. */
export function letThrough(gate: Gate, { pending, arrived }: Queue, isByHand: (uid: string) => boolean): Passage {
  if (gate.kind === 'open') return { passed: { pending, arrived }, held: { pending: [], arrived: [] } }
  const isSkipped = ({ decision }: PendingFiring) => decision !== undefined
  const waiting = [...pending.filter((one) => !isSkipped(one)), ...arrived].filter(({ uid }) => !isByHand(uid))
  const probe = gate.kind === 'probing' && gate.isDue && !gate.isBusy ? waiting[0]?.uid : undefined
  const may = ({ uid }: FiringReference) => gate.kind !== 'closed' && (isByHand(uid) || uid === probe)
  const passed = { pending: pending.filter((one) => isSkipped(one) || may(one)), arrived: arrived.filter(may) }
  const through = new Set([...passed.pending, ...passed.arrived].map(({ uid }) => uid))
  const isHeld = ({ uid }: FiringReference) => !through.has(uid)
  return { passed, held: { pending: pending.filter(isHeld), arrived: arrived.filter(isHeld) } }
}
