import { describe, expect, it } from 'vitest'
import { maxActiveFirings } from '../../../../src/api/automation.ts'
import { firingName, manualKey } from '../../../../src/lib/names.ts'
import { deepFreeze } from '../../../../src/lib/readonly.ts'
import { checkFiring } from '../../../../src/reconcilers/automation-firing/checks.ts'
import { aFiring, anAutomation } from '../../../kit/builders.ts'

const now = new Date('2026-11-30T12:00:05Z')
const ready = { state: 'Active', observedGeneration: 1 } as const
const uid = 'uid-of-triage'

function check(firing: Parameters<typeof aFiring>[0] = {}, automation: Parameters<typeof anAutomation>[0] = {}) {
  return checkFiring(deepFreeze(aFiring(firing)), deepFreeze(anAutomation({ status: ready, ...automation })), now)
}

const started = (name = 'triage-manual-1') => ({ ...ready, active: [{ name, uid: `uid-of-${name}` }] })

describe('whether a firing starts', () => {
  it('starts once its Automation lists it, by name and UID', () => {
    expect(check({}, { status: started() })).toMatchObject({ kind: 'start', entry: 'by-hand' })
    const predecessor = { ...ready, active: [{ name: 'triage-manual-1', uid: 'uid-of-before' }] }
    expect(check({}, { status: predecessor })).toMatchObject({ kind: 'pending', reason: 'AwaitingStart' })
  })

  it('ends without an Automation', () => {
    expect(checkFiring(deepFreeze(aFiring()), undefined, now)).toEqual({
      kind: 'end',
      phase: 'Failed',
      reason: 'AutomationNotFound',
      message: 'Automation triage does not exist; see kubectl get automations.',
    })
  })

  it('ends where the Automation is another one of that name, or is going', () => {
    const spec = { automation: { name: 'triage', uid: 'uid-of-before' } }
    expect(check({ spec })).toMatchObject({ phase: 'Failed', reason: 'AutomationNotFound' })
    const metadata = { deletionTimestamp: '2026-11-30T12:00:00Z' }
    expect(check({}, { metadata })).toMatchObject({ phase: 'Failed', reason: 'AutomationNotFound' })
    expect(check({ spec: { automation: { name: 'triage', uid } } })).toMatchObject({ kind: 'pending' })
  })

  it('ends where somebody else controls it', () => {
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid: 'x', controller: true }]
    expect(check({ metadata: { ownerReferences } })).toMatchObject({ phase: 'Failed', reason: 'OwnerConflict' })
  })

  it('refuses an event over 256 KiB', () => {
    const event = (bytes: number) => ({ spec: { event: 'x'.repeat(bytes - 2) } })
    expect(check(event(256 * 1024))).toMatchObject({ kind: 'pending' })
    expect(check(event(256 * 1024 + 1))).toMatchObject({ phase: 'Failed', reason: 'EventTooLarge' })
  })

  it('refuses an event that would not arrive as it was sent, or that nothing can walk through', () => {
    const deep = JSON.parse('['.repeat(9000) + ']'.repeat(9000))
    for (const event of [{ id: 2 ** 53 + 2 }, [-(2 ** 63)], deep]) {
      expect(check({ spec: { event } })).toMatchObject({ phase: 'Failed', reason: 'EventInvalid' })
    }
    for (const event of [{ id: 2 ** 53 - 1 }, 0.5, null, false, 'x']) {
      expect(check({ spec: { event } })).toMatchObject({ kind: 'pending' })
    }
  })

  it('[A-308] with an idempotency key the name must be the one of user and key', () => {
    const spec = { idempotencyKey: 'monday', requestedBy: 'jane' }
    const name = firingName({ name: 'triage', uid }, 'manual', manualKey('jane', 'monday'))
    expect(check({ name, spec })).toMatchObject({ kind: 'pending' })
    const other = check({ spec })
    expect(other).toMatchObject({ phase: 'Failed', reason: 'NameMismatch' })
    expect(other).toHaveProperty('message', expect.stringContaining(name))
    expect(check({ name, spec: { ...spec, requestedBy: 'joe' } })).toMatchObject({ reason: 'NameMismatch' })
  })

  it.each([
    ['the manual trigger', undefined, ['schedule', 'manual'], 'manual'],
    ['the only one', undefined, ['schedule'], 'schedule'],
    ['the one that it names', 'schedule', ['schedule', 'manual'], 'schedule'],
    ['none: several and no manual one', undefined, ['schedule', 'webhook'], 'EntryAmbiguous'],
    ['none: there is none of that name', 'other', ['schedule', 'webhook'], 'EntryUnknown'],
  ] as const)('enters by %s', (_, entry, kinds, expected) => {
    const triggers = kinds.map((kind) => ({ id: kind, kind }))
    const found = check({ spec: entry === undefined ? {} : { entry } }, { spec: { triggers }, status: started() })
    expect(found.kind === 'start' ? found.entry : found.reason).toBe(expected)
    if (found.kind === 'end') expect(found.message).toContain('schedule, webhook')
  })

  it('[A-174] is skipped while the Automation is paused', () => {
    expect(check({}, { spec: { paused: true } })).toMatchObject({ phase: 'Skipped', reason: 'Paused' })
  })

  it('[A-170] a pause does not stop what was started', () => {
    expect(check({}, { spec: { paused: true }, status: started() })).toMatchObject({ kind: 'start' })
  })

  it('[N-138] fails where the Automation is not ready, with everything that is wrong', () => {
    const readiness = [
      { check: 'environment', state: 'Failed', message: 'Environment default does not exist; create it.' },
      { check: 'agent', state: 'Unknown', message: 'Agent triager has no published version yet.' },
    ] as const
    const found = check({}, { status: { ...ready, state: 'NotReady', readiness: [...readiness] } })
    expect(found).toMatchObject({ phase: 'Failed', reason: 'NotReady' })
    for (const { message } of readiness) expect(found).toHaveProperty('message', expect.stringContaining(message))
  })

  it('[A-151] waits a moment for readiness that is only unknown, then it blocks as failure does', () => {
    const readiness = [{ check: 'agent', state: 'Unknown' as const, message: 'No version yet.' }]
    const automation = deepFreeze(anAutomation({ status: { ...ready, state: 'NotReady', readiness } }))
    const at = (time: string) => checkFiring(deepFreeze(aFiring()), automation, new Date(time))
    expect(at('2026-11-30T12:00:09Z')).toMatchObject({ reason: 'AwaitingReadiness', after: 1000 })
    expect(at('2026-11-30T12:00:10Z')).toMatchObject({ kind: 'end', reason: 'NotReady' })
  })

  it('waits while readiness was not looked at, or only that of an earlier spec', () => {
    expect(check({}, { status: {} })).toMatchObject({ kind: 'pending', reason: 'AwaitingReadiness' })
    const stale = { state: 'NotReady', observedGeneration: 1 } as const
    expect(check({}, { metadata: { generation: 2 }, status: stale })).toMatchObject({ reason: 'AwaitingReadiness' })
  })

  it('waits where a hundred are active', () => {
    const active = Array.from({ length: maxActiveFirings }, (_, n) => ({ name: `f${n}`, uid: `uid-${n}` }))
    expect(check({}, { status: { ...ready, active } })).toMatchObject({ kind: 'pending', reason: 'TooManyActive' })
  })

  describe('where the Automation has paused itself', () => {
    const pause = {
      reason: 'PodLost',
      message: 'It was lost.',
      class: 'Transient',
      since: '2026-11-30T11:00:00.000Z',
      streak: 3,
      firing: 'nightly-3',
    } as const
    const paused = { ...ready, state: 'Paused', pause } as const
    const event = { spec: { trigger: 'event', entry: 'by-hand' } } as const

    it('[N-159] one by hand waits to be started like any', () => {
      expect(check({}, { status: paused })).toMatchObject({ kind: 'pending', reason: 'AwaitingStart' })
      expect(check({}, { status: { ...paused, ...started(), state: 'Paused' } })).toMatchObject({ kind: 'start' })
    })

    it('[A-174] one by hand is skipped where people have paused it as well', () => {
      expect(check({}, { spec: { paused: true }, status: paused })).toMatchObject({ reason: 'Paused' })
    })

    it('[N-138] one by hand fails where a check fails', () => {
      const readiness = [{ check: 'agent', state: 'Failed' as const, message: 'There is none.' }]
      expect(check({}, { status: { ...paused, readiness } })).toMatchObject({ phase: 'Failed', reason: 'NotReady' })
    })

    it('one of the schedule that was made before waits for the end of the pause', () => {
      const spec = { trigger: 'schedule', occurrence: '2026-11-30T12:00:00.000Z', entry: 'by-hand' } as const
      expect(check({ spec }, { status: paused })).toMatchObject({ kind: 'pending', reason: 'AwaitingResume' })
    })

    it('[N-154] an event is skipped, but for the one that is let through as a probe', () => {
      expect(check(event, { status: paused })).toMatchObject({ phase: 'Skipped', reason: 'Paused' })
      const probing = (nextProbe: string) => ({ ...paused, pause: { ...pause, nextProbe } })
      expect(check(event, { status: probing('2026-11-30T12:30:00.000Z') })).toMatchObject({ phase: 'Skipped' })
      const due = probing('2026-11-30T12:00:00.000Z')
      expect(check(event, { status: due })).toMatchObject({ kind: 'pending', reason: 'AwaitingStart' })
      const active = [{ name: 'other', uid: 'uid-of-other' }]
      expect(check(event, { status: { ...due, active } })).toMatchObject({ phase: 'Skipped' })
    })
  })
})
