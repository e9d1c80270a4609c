import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Failures, keptFailures } from '../../../../src/api/pause.ts'
import { deepFreeze } from '../../../../src/lib/readonly.ts'
import { type Ending, failuresToPause, nextFailures, pauseOf } from '../../../../src/reconcilers/automation/failures.ts'

const minute = 60_000
const start = Date.parse('2026-11-30T12:00:00.000Z')
const at = (minutes: number) => new Date(start + minutes * minute).toISOString()
const subject = () => 'sha256:same'

function ending(minutes: number, reason: string | undefined, given: Partial<Ending> = {}): Ending {
  return {
    firing: `nightly-${minutes}`,
    at: at(minutes),
    result: reason === undefined ? 'Succeeded' : 'Failed',
    byHand: false,
    reason: reason ?? '',
    message: reason === undefined ? '' : `It was ${reason} at ${minutes}.`,
    ...given,
  }
}

interface Look {
  readonly endings: readonly Ending[]
  readonly isResumed?: boolean
  readonly subject?: () => string
  readonly minute?: number
}

/** What is recorded and whether it is paused after several looks, each of which knows only what the one before recorded. */
function looks(...all: readonly Look[]) {
  let failures: Failures | undefined
  let pause: ReturnType<typeof pauseOf>
  for (const { endings, isResumed = false, minute: now = 1000, ...look } of all) {
    const input = { before: failures, endings, subject, isResumed, now: new Date(at(now)), ...look }
    failures = nextFailures(deepFreeze(input))
    pause = pauseOf(deepFreeze(structuredClone(failures)), endings, pause)
  }
  return { failures, pause }
}

const failed = (...minutes: number[]) => minutes.map((one) => ending(one, 'CommandFailed'))
const outside = (...minutes: number[]) => minutes.map((one) => ending(one, 'ImageUnavailable'))

describe('failures in a row', () => {
  it('[N-153] two do not pause, the third does', () => {
    expect(looks({ endings: failed(1, 2) }).pause).toBeUndefined()
    expect(looks({ endings: failed(1, 2, 3) }).pause).toEqual({
      reason: 'CommandFailed',
      message: 'It was CommandFailed at 3.',
      class: 'Runtime',
      since: at(3),
      streak: 3,
      firing: 'nightly-3',
    })
  })

  it('[N-136] the same firing counts once, however often it is seen', () => {
    const once = failed(1, 2)
    expect(looks({ endings: once }, { endings: once }, { endings: [...once, ...once] }).failures?.row).toHaveLength(2)
  })

  it('[N-137] another event raises the streak', () => {
    const events = ['a', 'b', 'c'].map((id, index) => ending(index, 'CommandFailed', { firing: `event-${id}` }))
    expect(looks({ endings: events }).pause).toMatchObject({ streak: 3, firing: 'event-c' })
  })

  it('[N-157] a success clears them', () => {
    const { failures, pause } = looks({ endings: [...failed(1, 2), ending(3, undefined), ...failed(4, 5)] })
    expect(pause).toBeUndefined()
    expect(failures?.row).toHaveLength(2)
  })

  it.each([
    ['[N-138] what a check holds back', 'EnvironmentMissing'],
    ['a request that was wrong', 'EntryUnknown'],
    ['[N-175] what was interrupted', 'Interrupted'],
  ])('%s neither raises nor clears them', (_, reason) => {
    const between = looks({ endings: [...failed(1, 2), ending(3, reason), ...failed(4)] })
    expect(between.pause).toMatchObject({ streak: 3, since: at(4) })
    expect(looks({ endings: [1, 2, 3, 4].map((one) => ending(one, reason)) }).pause).toBeUndefined()
  })

  it('[N-140] the pause has the words of the failure, also when the firing is gone', () => {
    const { pause } = looks({ endings: failed(1, 2, 3) }, { endings: [] })
    expect(pause?.message).toBe('It was CommandFailed at 3.')
    const silent = looks({ endings: [...failed(1, 2), ending(3, 'OOMKilled', { message: '' })] })
    expect(silent.pause?.message).toBe('It ended with OOMKilled.')
  })

  it('different failures in a row pause with the newest cause', () => {
    const { pause } = looks({ endings: [...outside(1), ending(2, 'OOMKilled'), ...failed(3)] })
    expect(pause).toMatchObject({ reason: 'CommandFailed', class: 'Runtime' })
    expect(pause).not.toHaveProperty('nextProbe')
  })
})

describe('a provider that is not connected', () => {
  const lacking = (...minutes: number[]) => minutes.map((one) => ending(one, 'ConnectionRequired'))

  it('[N-143] pauses after three that are the same, not after one or two', () => {
    expect(looks({ endings: lacking(1) }).pause).toBeUndefined()
    expect(looks({ endings: lacking(1, 2) }).pause).toBeUndefined()
    expect(looks({ endings: lacking(1, 2, 3) }).pause).toMatchObject({ class: 'Connection', streak: 3 })
  })

  it('[N-143] a different failure in between breaks the row of the same', () => {
    expect(looks({ endings: [...lacking(1), ...failed(2), ...lacking(3)] }).pause).toBeUndefined()
    expect(looks({ endings: [...failed(1), ...lacking(2, 3)] }).pause).toBeUndefined()
    expect(looks({ endings: [...failed(1), ...lacking(2, 3, 4)] }).pause).toMatchObject({ since: at(4) })
  })

  it('[N-142] [N-144] [N-145] is never tried again by itself', () => {
    expect(looks({ endings: lacking(1, 2, 3) }).pause).not.toHaveProperty('nextProbe')
  })
})

describe('a failure that may pass', () => {
  it.each([
    [3, 15],
    [4, 30],
    [5, 60],
    [6, 120],
    [7, 240],
    [8, 360],
    [9, 360],
    [20, 360],
  ])('[N-154] after %i failures in a row a probe is made %i minutes after the last', (count, wait) => {
    const minutes = Array.from({ length: count }, (_, index) => index * 500)
    const { pause } = looks(...minutes.map((_, index) => ({ endings: outside(...minutes.slice(0, index + 1)) })))
    expect(pause).toMatchObject({ class: 'Transient', since: at(1000) })
    expect(pause?.nextProbe).toBe(at((count - 1) * 500 + wait))
  })

  it('[N-155] [N-196] a probe that fails leaves it paused since when it was', () => {
    const { pause } = looks({ endings: outside(1, 2, 3) }, { endings: outside(3, 20) })
    expect(pause).toMatchObject({ since: at(3), streak: 4, nextProbe: at(50) })
  })

  it('[N-157] a probe that succeeds ends the pause, and clears the streak', () => {
    const { failures, pause } = looks({ endings: outside(1, 2, 3) }, { endings: [ending(20, undefined)] })
    expect(pause).toBeUndefined()
    expect(failures).toEqual({ clearedAt: at(20) })
  })

  it('[N-195] another kind of failure is not tried again', () => {
    expect(looks({ endings: [...outside(1, 2, 3), ...failed(20)] }).pause).toMatchObject({ class: 'Runtime' })
    expect(looks({ endings: [...outside(1, 2, 3), ...failed(20)] }).pause).not.toHaveProperty('nextProbe')
  })
})

describe('a firing by hand', () => {
  const byHand = (minutes: number, reason?: string) => ending(minutes, reason, { byHand: true })

  it('[N-160] never moves the streak', () => {
    const { failures, pause } = looks({ endings: [...failed(1, 2), byHand(3, 'CommandFailed'), byHand(4)] })
    expect(pause).toBeUndefined()
    expect(failures?.row).toHaveLength(2)
    expect(looks({ endings: [1, 2, 3, 4].map((one) => byHand(one, 'CommandFailed')) }).pause).toBeUndefined()
  })

  it('[N-160] that fails leaves it paused; one that succeeds ends the pause', () => {
    const paused = failed(1, 2, 3)
    expect(looks({ endings: [...paused, byHand(4, 'CommandFailed')] }).pause).toMatchObject({ streak: 3 })
    expect(looks({ endings: paused }, { endings: [...paused, byHand(4)] }).pause).toBeUndefined()
    expect(looks({ endings: paused }, { endings: [byHand(4)] }, { endings: [] }).pause).toBeUndefined()
  })

  it('[N-160] the streak being where it was, the next failure pauses again', () => {
    const { pause } = looks({ endings: failed(1, 2, 3) }, { endings: [byHand(4)] }, { endings: failed(5) })
    expect(pause).toMatchObject({ streak: 4, since: at(5) })
  })
})

describe('the owner', () => {
  it('[N-149] [N-198] clears pause and streak by resuming', () => {
    const resumed = looks({ endings: failed(1, 2, 3) }, { endings: failed(1, 2, 3), isResumed: true, minute: 4 })
    expect(resumed.pause).toBeUndefined()
    expect(resumed.failures).toEqual({ clearedAt: at(4) })
    const twice = { endings: failed(1, 2, 3, 5, 6) }
    expect(
      looks({ endings: failed(1, 2, 3) }, { endings: [], isResumed: true, minute: 4 }, twice).pause,
    ).toBeUndefined()
  })

  it('clears them by changing what failed', () => {
    const changed = { endings: failed(1, 2, 3), subject: () => 'sha256:other', minute: 4 }
    expect(looks({ endings: failed(1, 2, 3) }, changed).pause).toBeUndefined()
    const after = { endings: failed(1, 2, 3, 5, 6, 7), subject: changed.subject }
    expect(looks({ endings: failed(1, 2, 3) }, changed, after).pause).toMatchObject({ since: at(7), streak: 3 })
  })

  it('is not asked for the digest where nothing fails', () => {
    const never = () => {
      throw new Error('it was asked for')
    }
    expect(looks({ endings: [ending(1, undefined)], subject: never }).failures).toEqual({ clearedAt: at(1) })
  })
})

const reasons = ['CommandFailed', 'OOMKilled', 'ImageUnavailable', 'ConnectionRequired', 'NotReady', undefined]
const anEnding = fc
  .record({
    minutes: fc.nat(30),
    reason: fc.constantFrom(...reasons),
    byHand: fc.boolean(),
  })
  .map(({ minutes, reason, byHand }) => ending(minutes, reason, { byHand, firing: `nightly-${minutes}` }))
const aHistory = fc.uniqueArray(anEnding, { selector: ({ firing }) => firing, maxLength: 24 })

/** A history cut into looks: each ending in at least one of them, in any order, and repeated at will. */
function observations(history: readonly Ending[]) {
  const shown = fc.array(fc.subarray([...history]), { maxLength: 6 })
  return fc
    .tuple(shown, fc.shuffledSubarray([...history], { minLength: history.length }))
    .chain(([subsets, all]) =>
      fc.nat(all.length).map((cut) => [...subsets, all.slice(0, cut), all.slice(cut)].map((endings) => ({ endings }))),
    )
}

describe('what is recorded', () => {
  it('is the same in whatever order, how often and by whom the firings were seen', () => {
    const cases = aHistory.chain((history) => fc.tuple(fc.constant(history), observations(history)))
    fc.assert(
      fc.property(cases, ([history, seen]) => {
        const atOnce = looks({ endings: history })
        const piecemeal = looks(...seen, { endings: history })
        expect(piecemeal.failures).toEqual(atOnce.failures)
        // Where the row is longer than what is kept, its beginning depends on what was seen of it.
        if (atOnce.pause?.streak === keptFailures) return
        expect(piecemeal.pause).toEqual(atOnce.pause)
      }),
      { numRuns: 500 },
    )
  })

  it('fits into the status, and a pause needs enough failures', () => {
    fc.assert(
      fc.property(aHistory, (history) => {
        const { failures, pause } = looks({ endings: history })
        expect(failures?.row?.length ?? 0).toBeLessThanOrEqual(keptFailures)
        if (pause !== undefined) expect(pause.streak).toBeGreaterThanOrEqual(failuresToPause)
      }),
    )
  })

  it('a pause that stands is not ended by further failures', () => {
    const more = fc.array(fc.constantFrom('CommandFailed', 'ImageUnavailable', 'ConnectionRequired', 'OOMKilled'))
    fc.assert(
      fc.property(more, (next) => {
        const first = failed(1, 2, 3)
        const later = next.map((reason, index) => ending(10 + index, reason))
        expect(looks({ endings: first }, ...later.map((one) => ({ endings: [one] }))).pause).toBeDefined()
      }),
    )
  })
})
