import { describe, expect, it } from 'vitest'
import { type Lease, type LeaseSpec, leaseType } from '../../../src/kube/core-types.ts'
import {
  afterFailure,
  afterLook,
  afterWrite,
  beforeWrite,
  claimOf,
  type Election,
  leads,
  newElection,
  nextElectionStep,
  releaseOf,
  electionTiming as timing,
} from '../../../src/kube/election.ts'

const now = new Date('2026-11-30T12:00:00Z')

function leaseOf(spec: LeaseSpec): Lease {
  const metadata = { namespace: 'a', name: 'manager', uid: 'u', resourceVersion: '1' }
  return { apiVersion: leaseType.apiVersion, kind: leaseType.kind, metadata, spec }
}

const theirs = leaseOf({ holderIdentity: 'them', leaseDurationSeconds: 15, renewTime: '1999-01-01T00:00:00.000000Z' })
const ours = leaseOf(claimOf(undefined, 'us', now, timing))
const free = leaseOf(releaseOf(theirs, now))

function leading(since: number): Election {
  return afterWrite(newElection, ours, { sentAt: since, now: since }, timing)
}

function step(election: Election, at: number) {
  return nextElectionStep(election, 'us', at, timing)
}

describe('the next step of an election', () => {
  it.each<[string, Election, number, object]>([
    ['looks at first', newElection, 0, { kind: 'look' }],
    ['creates what is not there', afterLook(newElection, undefined, 0), 0, { kind: 'write', from: undefined }],
    ['takes what is free', afterLook(newElection, free, 0), 0, { kind: 'write', from: free }],
    ['leaves a held Lease alone, however old its times', afterLook(newElection, theirs, 0), 0, standBy(2000)],
    ['waits no longer than the holder promised', seenTwice(14_000), 14_000, standBy(1000)],
    ['takes a record that has not changed for as long', seenTwice(15_000), 15_000, { kind: 'write', from: theirs }],
    ['waits until the next renewal', leading(0), 500, { kind: 'wait', millis: 1500 }],
    ['renews', leading(0), 2000, { kind: 'write', from: ours }],
    ['loses the lead to another holder', afterLook(leading(0), theirs, 2000), 2000, { kind: 'lost', holder: 'them' }],
    ['loses the lead when the time is up', leading(0), 10_000, { kind: 'lost', holder: undefined }],
    ['looks before it renews after a failure', failed(8500, 9000), 9000, { kind: 'look' }],
    ['waits no longer than it leads', failed(9800, 9900), 9900, { kind: 'wait', millis: 100 }],
  ])('%s', (_, election, at, expected) => {
    expect(step(election, at)).toEqual(expected)
  })

  it('trusts the promise of the holder, not its own timing', () => {
    const longer = leaseOf({ ...theirs.spec, leaseDurationSeconds: 60 })
    const election = afterLook(afterLook(newElection, longer, 0), longer, 59_000)
    expect(step(election, 59_000)).toEqual(standBy(1000))
  })

  it('counts anew when the record changes, and not when only metadata does', () => {
    const labelled = { ...theirs, metadata: { ...theirs.metadata, resourceVersion: '2' } }
    expect(step(afterLook(afterLook(newElection, theirs, 0), labelled, 15_000), 15_000).kind).toBe('write')
    const renewed = leaseOf({ ...theirs.spec, renewTime: '1999-01-01T00:00:02.000000Z' })
    expect(step(afterLook(afterLook(newElection, theirs, 0), renewed, 15_000), 15_000)).toEqual(standBy(2000))
  })

  it('finds out by a look that a write without an answer succeeded, and counts from when it was sent', () => {
    const claim = claimOf(ours, 'us', new Date(now.getTime() + 2000), timing)
    const sent = afterFailure(
      beforeWrite(leading(0), claim, 2000),
      { sentAt: 2000, now: 4000, isConflict: false },
      timing,
    )
    expect(leads(sent, 10_000, timing)).toBe(false)
    const election = afterLook(sent, leaseOf(claim), 4500)
    expect([leads(election, 11_999, timing), leads(election, 12_000, timing)]).toEqual([true, false])
  })
})

describe('a record', () => {
  it('keeps its time of acquisition through renewals, and counts how often the lead changed hands', () => {
    const later = new Date(now.getTime() + 60_000)
    expect(claimOf(ours, 'us', later, timing)).toEqual({
      holderIdentity: 'us',
      leaseDurationSeconds: 15,
      acquireTime: '2026-11-30T12:00:00.000000Z',
      renewTime: '2026-11-30T12:01:00.000000Z',
      leaseTransitions: 0,
    })
    const taken = claimOf(leaseOf({ ...theirs.spec, leaseTransitions: 4 }), 'us', now, timing)
    expect(taken).toMatchObject({ acquireTime: '2026-11-30T12:00:00.000000Z', leaseTransitions: 5 })
    expect(releaseOf(leaseOf(taken), later)).toMatchObject({ holderIdentity: '', leaseTransitions: 5 })
  })
})

function standBy(millis: number): object {
  return { kind: 'standBy', millis }
}

/** Their record as it was at 0 and is at this time. */
function seenTwice(at: number): Election {
  return afterLook(afterLook(newElection, theirs, 0), theirs, at)
}

/** The leader of 0 after a request that failed. */
function failed(sentAt: number, at: number): Election {
  return afterFailure(leading(0), { sentAt, now: at, isConflict: false }, timing)
}
