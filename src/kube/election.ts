import type { Lease, LeaseSpec } from './core-types.ts'
import { microTime } from './micro-time.ts'

/** How long the steps of an election take, milliseconds. */
export interface ElectionTiming {
  /** A record counts for so long after it last changed: the promise of whoever holds the lead. */
  readonly leaseMillis: number
  /** A leader whose renewals fail for so long does not lead any more. Shorter than the lease. */
  readonly renewMillis: number
  /** A leader renews, and a candidate looks, this often. */
  readonly retryMillis: number
  /** One request may take so long: several fit in before the lead is lost. */
  readonly attemptMillis: number
}

/** The values of client-go's `leaderelection`; its clients have no limit for one request. */
export const electionTiming: ElectionTiming = {
  leaseMillis: 15_000,
  renewMillis: 10_000,
  retryMillis: 2000,
  attemptMillis: 2000,
}

/**
 * What an elector remembers. Times are milliseconds of its own monotonic clock. The times in a Lease are written for
 * people and never read: another machine's clock may say anything.
 */
export interface Election {
  /** The Lease as it may be written on; `absent`: to be created; undefined: to be looked at first. */
  readonly lease: Lease | 'absent' | undefined
  /** The record as it was last seen, and when it was first seen so. */
  readonly seen: { readonly record: string; readonly since: number } | undefined
  /** When the last write that was confirmed had been sent; undefined: does not lead. */
  readonly renewedAt: number | undefined
  /** Records that were sent since, and when: one of them may be in the Lease although its answer never came. */
  readonly claims: readonly { readonly record: string; readonly sentAt: number }[]
  /** When to act next. */
  readonly dueAt: number
}

export const newElection: Election = {
  lease: undefined,
  seen: undefined,
  renewedAt: undefined,
  claims: [],
  dueAt: Number.NEGATIVE_INFINITY,
}

export type ElectionStep =
  | { readonly kind: 'wait' | 'standBy'; readonly millis: number }
  | { readonly kind: 'look' }
  /** Takes or renews the lead, by a compare-and-set. */
  | { readonly kind: 'write'; readonly from: Lease | undefined }
  /** @property holder who has it now; undefined: the time is up */
  | { readonly kind: 'lost'; readonly holder: string | undefined }

/**
 * What an elector does next. A leader counts its time from before it sent its last renewal, a candidate from after it
 * saw that renewal, and the leader's time is shorter: while both clocks run, one has given up before the other takes
 * over.
 */
export function nextElectionStep(
  election: Election,
  identity: string,
  now: number,
  timing: ElectionTiming,
): ElectionStep {
  const { lease, renewedAt, dueAt } = election
  const deadline = renewedAt === undefined ? Number.POSITIVE_INFINITY : renewedAt + timing.renewMillis
  if (now >= deadline) return { kind: 'lost', holder: undefined }
  if (now < dueAt) return { kind: 'wait', millis: Math.min(dueAt, deadline) - now }
  if (lease === undefined) return { kind: 'look' }
  if (lease === 'absent') return { kind: 'write', from: undefined }
  const holder = lease.spec?.holderIdentity ?? ''
  if (holder === identity) return { kind: 'write', from: lease }
  if (renewedAt !== undefined) return { kind: 'lost', holder }
  const left = holder === '' ? 0 : expiryOf(election, lease, timing) - now
  if (left <= 0) return { kind: 'write', from: lease }
  return { kind: 'standBy', millis: Math.min(left, timing.retryMillis) }
}

/** By the promise in the record, so that managers of two releases may have two timings. */
function expiryOf({ seen }: Election, { spec }: Lease, timing: ElectionTiming): number {
  const promised = spec?.leaseDurationSeconds === undefined ? timing.leaseMillis : spec.leaseDurationSeconds * 1000
  return (seen?.since ?? 0) + promised
}

/** True while the lead is good by this clock, whatever has not been noticed yet. */
export function leads({ renewedAt }: Election, now: number, timing: ElectionTiming): boolean {
  return renewedAt !== undefined && now < renewedAt + timing.renewMillis
}

/** The Lease was read; undefined where there is none. To find a record of one's own there confirms its write. */
export function afterLook(election: Election, lease: Lease | undefined, now: number): Election {
  const record = recordOf(lease?.spec)
  const claim = election.claims.find((each) => each.record === record)
  return {
    ...election,
    lease: lease ?? 'absent',
    seen: see(election, record, now),
    renewedAt: claim?.sentAt ?? election.renewedAt,
    dueAt: now,
  }
}

/** Somebody else leads: it is looked at again then. */
export function afterStandBy(election: Election, dueAt: number): Election {
  return { ...election, lease: undefined, dueAt }
}

/** A write is about to be sent. */
export function beforeWrite(election: Election, claim: LeaseSpec, sentAt: number): Election {
  const claims = [...election.claims, { record: recordOf(claim), sentAt }]
  return { ...election, claims: claims.slice(-mostClaims) }
}

/** More than a leader can send before it loses the lead. */
const mostClaims = 8

/** A write was confirmed: this process leads. */
export function afterWrite(
  election: Election,
  lease: Lease,
  { sentAt, now }: { readonly sentAt: number; readonly now: number },
  timing: ElectionTiming,
): Election {
  const seen = see(election, recordOf(lease.spec), now)
  return { lease, seen, renewedAt: sentAt, claims: [], dueAt: sentAt + timing.retryMillis }
}

/**
 * A request failed, and whether it had an effect is unknown: the Lease is looked at before anything else. A leader is in
 * a hurry.
 */
export function afterFailure(
  election: Election,
  { sentAt, now, isConflict }: { readonly sentAt: number; readonly now: number; readonly isConflict: boolean },
  timing: ElectionTiming,
): Election {
  const isUrgent = isConflict || election.renewedAt !== undefined
  const dueAt = Math.max(now, sentAt + (isUrgent ? timing.retryMillis / 4 : timing.retryMillis))
  return { ...election, lease: undefined, dueAt }
}

function see(election: Election, record: string, now: number): Election['seen'] {
  return election.seen?.record === record ? election.seen : { record, since: now }
}

function recordOf(spec: LeaseSpec | undefined): string {
  const { holderIdentity, leaseDurationSeconds, acquireTime, renewTime, leaseTransitions } = spec ?? {}
  return JSON.stringify([holderIdentity, leaseDurationSeconds, acquireTime, renewTime, leaseTransitions])
}

/** The record by which this process takes the lead, or keeps it. */
export function claimOf(from: Lease | undefined, identity: string, now: Date, timing: ElectionTiming): LeaseSpec {
  const before = from?.spec
  const isRenewal = before?.holderIdentity === identity
  const time = microTime(isRenewal ? laterThan(before?.renewTime, now) : now)
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(timing.leaseMillis / 1000),
    acquireTime: (isRenewal ? before?.acquireTime : undefined) ?? time,
    renewTime: time,
    leaseTransitions: (before?.leaseTransitions ?? 0) + (isRenewal || before === undefined ? 0 : 1),
  }
}

/** The record of a lead that was given up: anybody may take it at once. */
export function releaseOf(from: Lease, now: Date): LeaseSpec {
  const time = microTime(now)
  return {
    holderIdentity: '',
    leaseDurationSeconds: 1,
    acquireTime: time,
    renewTime: time,
    leaseTransitions: from.spec?.leaseTransitions ?? 0,
  }
}

/**
 * The time, or a moment after the last one where the clock stood still or went back. A record that was there before is
 * no sign of life: who looks now and then would take it for the old one.
 */
function laterThan(present: string | undefined, now: Date): Date {
  const last = Date.parse(present ?? '')
  return now.getTime() > last || Number.isNaN(last) ? now : new Date(last + 1)
}
