import type { Automation } from '../../api/automation.ts'
import type { AutomationFiring, FiringPhase } from '../../api/automation-firing.ts'
import { defaultHistory, shortestRetentionSeconds } from '../../api/automation-policies.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'
import { isSettledFiring } from '../automation-firing/phase.ts'
import { isDecided } from './decided.ts'

type Firing = DeepReadonly<AutomationFiring>

/** How long the names of firings and Sessions are needed as locks, whatever the Automation says. */
export interface PruningRules {
  /** Since a firing has settled: a manager with an old view would make it, or its Sessions, again. Milliseconds. */
  readonly settledMillis: number
  /** Since a firing with an idempotency key has settled: until then the key means this very firing. Milliseconds. */
  readonly dedupeMillis: number
}

export const pruningRules: PruningRules = {
  settledMillis: shortestRetentionSeconds * 1000,
  dedupeMillis: 7 * 24 * 3600 * 1000,
}

export interface PruningInput {
  readonly automation: DeepReadonly<Automation>
  /** All its firings. */
  readonly firings: readonly Firing[]
  /** UIDs of those that have Sessions still. */
  readonly detailed: ReadonlySet<string>
  readonly rules: PruningRules
  readonly now: Date
}

export interface Pruning {
  /** Firings to be deleted, oldest first. */
  readonly firings: readonly Firing[]
  /** Firings that stay and whose Sessions are to be deleted, oldest first. */
  readonly details: readonly Firing[]
  /** Milliseconds until time alone makes something else to be deleted; undefined where it does not. */
  readonly after: number | undefined
}

/**
 * What of an Automation's past is to go now. Never a firing that has not settled, that settled a moment ago, or whose
 * name may be asked for again: the occurrence that the schedule has not decided, the key that somebody may repeat.
 */
export function planPruning(input: PruningInput): Pruning {
  const past = input.firings.filter(isPast).toSorted(byAge)
  const surplus = surplusOf(input, past)
  const dated = past.map((firing) => ({ firing, ...datesOf(firing, surplus.has(firing), input) }))
  const now = input.now.getTime()
  const due = (at: number | undefined) => at !== undefined && at <= now
  const coming = dated
    .filter(({ goesAt }) => !due(goesAt)) // its Sessions go with it
    .flatMap(({ goesAt, detailsGoAt }) => [goesAt, detailsGoAt])
    .filter((at) => at !== undefined)
    .filter((at) => at > now)
  return {
    firings: dated.filter(({ goesAt }) => due(goesAt)).map(({ firing }) => firing),
    details: dated.filter(({ goesAt, detailsGoAt }) => !due(goesAt) && due(detailsGoAt)).map(({ firing }) => firing),
    after: coming.length === 0 ? undefined : Math.min(...coming) - now,
  }
}

function isPast(firing: Firing): boolean {
  return isSettledFiring(firing) && firing.metadata.deletionTimestamp === undefined
}

function byAge(a: Firing, b: Firing): number {
  return settledAt(a) - settledAt(b) || (a.metadata.name < b.metadata.name ? -1 : 1)
}

/** A firing that ended before it was admitted may lack the time: then that of its creation is good enough. */
function settledAt({ metadata, status }: Firing): number {
  return Date.parse(status?.settledAt ?? metadata.creationTimestamp ?? '')
}

const successful: readonly (FiringPhase | undefined)[] = ['Succeeded']
const skipped: readonly (FiringPhase | undefined)[] = ['Skipped']

/** Firings over the limit of their kind. Skipped ones have a limit of their own, or each minute would push out a result. */
function surplusOf({ automation }: PruningInput, past: readonly Firing[]): ReadonlySet<Firing> {
  const { successfulLimit, failedLimit, skippedLimit } = { ...defaultHistory, ...automation.spec.history }
  const groups = [
    { limit: successfulLimit, firings: past.filter(({ status }) => successful.includes(status?.phase)) },
    { limit: skippedLimit, firings: past.filter(({ status }) => skipped.includes(status?.phase)) },
    {
      limit: failedLimit,
      firings: past.filter(({ status }) => ![...successful, ...skipped].includes(status?.phase)),
    },
  ]
  return new Set(groups.flatMap(({ limit, firings }) => firings.slice(0, Math.max(0, firings.length - limit))))
}

/** When a firing and its Sessions go, in milliseconds since 1970; undefined: not by time alone. */
function datesOf(firing: Firing, isSurplus: boolean, { automation, detailed, rules }: PruningInput) {
  const { ttlSeconds, detailRetentionSeconds } = { ...defaultHistory, ...automation.spec.history }
  const settled = settledAt(firing)
  const needed = firing.spec.idempotencyKey === undefined ? rules.settledMillis : rules.dedupeMillis
  const wanted = isSurplus ? 0 : ttlSeconds === undefined ? undefined : ttlSeconds * 1000
  const mayGo = wanted !== undefined && isDecided(firing, automation)
  const hasDetails = detailed.has(firing.metadata.uid ?? '')
  return {
    goesAt: mayGo ? settled + Math.max(wanted, needed, rules.settledMillis) : undefined,
    detailsGoAt: hasDetails ? settled + Math.max(detailRetentionSeconds * 1000, rules.settledMillis) : undefined,
  }
}
