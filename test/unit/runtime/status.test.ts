import { expect, test } from 'vitest'
import type { Condition } from '../../../src/lib/object.ts'
import { deepFreeze } from '../../../src/lib/readonly.ts'
import { setCondition, withStalled } from '../../../src/runtime/conditions.ts'
import type { StatusBase } from '../../../src/runtime/controller.ts'
import { type Failure, showsFailure, statusOfFailure, statusToWrite } from '../../../src/runtime/status.ts'
import { lintStatus } from '../../kit/lint-status.ts'

const early = new Date('2026-11-30T12:00:00Z')
const late = new Date('2026-11-30T13:00:00Z')
const rules = { ready: 'Ready', foreignStatus: ['usage'] } as const
const ending = { ready: 'Succeeded' } as const

type Status = StatusBase & { count?: number; usage?: { tokens: number }; phase?: string }

function object(status: Status | undefined, generation = 2) {
  return deepFreeze({ metadata: { generation }, ...(status !== undefined && { status }) })
}

const ready = { type: 'Ready', status: 'True', reason: 'Done', message: 'it works' } as const

function lint(status: StatusBase | undefined) {
  const metadata = { name: 'thing', generation: 2 }
  return lintStatus(Object.assign({ apiVersion: 'v1', kind: 'Thing', metadata }, { status }))
}

test('writes nothing where the object has the wanted status, whatever another process keeps in its fields', () => {
  const seen: Status = {
    count: 1,
    observedGeneration: 2,
    usage: { tokens: 7 },
    conditions: setCondition([], ready, 2, early),
  }
  const wanted: Status = { count: 1, conditions: setCondition([], ready, 2, late) }
  expect(statusToWrite(object(seen), wanted, rules)).toBeUndefined()
})

test('writes the status whole, without the fields of other processes', () => {
  const seen: Status = { count: 1, observedGeneration: 1, usage: { tokens: 7 } }
  const wanted: Status = { count: 2, usage: { tokens: 0 } }
  expect(statusToWrite(object(seen), wanted, rules)).toEqual({ count: 2, observedGeneration: 2 })
})

test('a field that the reconciler leaves out is a difference', () => {
  expect(statusToWrite(object({ count: 1, observedGeneration: 2 }), {}, rules)).toEqual({ observedGeneration: 2 })
})

test('keeps the time of a condition that the reconciler set anew', () => {
  const seen: Status = { observedGeneration: 2, conditions: setCondition([], ready, 2, early) }
  const wanted: Status = { count: 3, conditions: setCondition([], ready, 2, late) }
  expect(statusToWrite(object(seen), wanted, rules)?.conditions?.[0]?.lastTransitionTime).toBe('2026-11-30T12:00:00Z')
})

const stalled: Failure = { kind: 'stalled', reason: 'NameConflict', message: 'rename it' }
const waiting: Failure = { kind: 'waiting', reason: 'EnvironmentMissing', message: 'create it' }
const retrying: Failure = { kind: 'retrying', reason: 'ReconcileError', message: 'it is tried again' }

test.each([
  [stalled, 'Ready', 'False', 'Stalled', 2],
  [waiting, 'Ready', 'False', 'Reconciling', 2],
  [retrying, 'Ready', 'False', 'Reconciling', 1],
  [stalled, 'Succeeded', 'False', 'Stalled', 2],
  [waiting, 'Succeeded', 'Unknown', 'Reconciling', 2],
  [retrying, 'Succeeded', 'Unknown', 'Reconciling', 1],
] as const)('shows %j in %s=%s and %s', (failure, type, verdict, cause, observedGeneration) => {
  const seen = object({ count: 1, observedGeneration: 1, usage: { tokens: 7 } })
  const status = statusOfFailure(seen, failure, { ready: type, foreignStatus: ['usage'] }, late)
  const { reason, message } = failure
  const common = { reason, message, lastTransitionTime: '2026-11-30T13:00:00Z', observedGeneration: 2 }
  expect(status).toEqual({
    count: 1,
    observedGeneration,
    conditions: [
      { type, status: verdict, ...common },
      { type: cause, status: 'True', ...common },
    ],
  })
  expect(lint(status)).toEqual([])
})

test('the same failure again writes nothing', () => {
  for (const failure of [stalled, waiting, retrying]) {
    const first = statusOfFailure(object({}), failure, rules, early)
    expect(statusOfFailure(object(first), failure, rules, late)).toBeUndefined()
    expect(showsFailure(object(first), failure, rules)).toBe(true)
    expect(showsFailure(object(first, 3), failure, rules)).toBe(false)
  }
})

test('an object that has ended keeps its verdict', () => {
  for (const verdict of ['True', 'False'] as const) {
    const conditions = setCondition([], { type: 'Succeeded', status: verdict, reason: 'Ended', message: '' }, 2, early)
    for (const failure of [stalled, waiting, retrying]) {
      expect(statusOfFailure(object({ conditions }), failure, ending, late)).toBeUndefined()
    }
  }
})

test('a success after a stall takes the Stalled away', () => {
  const cause = { reason: 'NameConflict', message: 'rename it' }
  const conditions: Condition[] = withStalled(
    setCondition([], { type: 'Ready', status: 'False', ...cause }, 2, early),
    cause,
    2,
    early,
  )
  const wanted = { conditions: setCondition(conditions, ready, 2, late) }
  const status = statusToWrite(object({ conditions }), wanted, rules)
  expect(status?.conditions?.map(({ type }) => type)).toEqual(['Ready'])
})

test('what columns show is derived from every status that is written', () => {
  const summarize = (status: StatusBase) => ({ ...status, phase: status.conditions?.[0]?.reason })
  const summarized = statusOfFailure(object({}), waiting, { ...ending, summarize }, late)
  expect(summarized).toMatchObject({ phase: 'EnvironmentMissing' })
  expect(
    statusToWrite(object({}), { conditions: setCondition([], ready, 2, late) }, { ...rules, summarize }),
  ).toMatchObject({ phase: 'Done' })
})
