import { expect, test } from 'vitest'
import type { Condition, KubeObject } from '../../../src/lib/object.ts'
import { lintStatus } from '../../kit/lint-status.ts'

function condition(change: Partial<Condition> = {}): Condition {
  return {
    type: 'Ready',
    status: 'False',
    reason: 'EnvironmentMissing',
    message: 'Environment build is missing; create it',
    lastTransitionTime: '2026-11-30T12:00:00Z',
    observedGeneration: 2,
    ...change,
  }
}

function withStatus(conditions: Condition[], more: object = {}): KubeObject {
  const object = { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'thing', generation: 2 } }
  return Object.assign(object, { status: { observedGeneration: 2, conditions, ...more } })
}

const reconciling = condition({ type: 'Reconciling', status: 'True' })
const stalled = condition({ type: 'Stalled', status: 'True' })

test.each([
  ['no status', { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'thing' } }],
  ['not ready', withStatus([condition()])],
  ['not ready and being worked on', withStatus([condition(), reconciling])],
  ['stalled', withStatus([condition(), stalled])],
  ['ended', withStatus([condition({ type: 'Succeeded', status: 'True' })], { phase: 'Succeeded' })],
  ['ended with the words of a program', withStatus([condition({ type: 'Succeeded', message: 'dial 127.0.0.1:80' })])],
])('passes what is %s', (_, object) => {
  expect(lintStatus(object)).toEqual([])
})

test.each([
  ['observedGeneration is missing', withStatus([condition()], { observedGeneration: undefined })],
  ['above generation', withStatus([condition()], { observedGeneration: 3 })],
  ['from the future', withStatus([condition({ observedGeneration: 3 })])],
  ['observedGeneration is missing', withStatus([condition({ observedGeneration: undefined })])],
  ['not CamelCase', withStatus([condition({ reason: 'environment missing' })])],
  ['not in seconds', withStatus([condition({ lastTransitionTime: '2026-11-30T12:00:00.123Z' })])],
  ['longer than 1 KiB', withStatus([condition({ message: 'x'.repeat(1025) })])],
  ['a time', withStatus([condition({ message: 'failed at 2026-11-30T12:00:00Z' })])],
  ['a UID', withStatus([condition({ message: 'owner 0b1c2d3e-4f56-4789-8abc-def012345678 is gone' })])],
  ['a counter', withStatus([condition({ message: 'gave up, attempt 3' })])],
  ['a counter', withStatus([condition({ message: 'failed 4 times' })])],
  ['an address', withStatus([condition({ message: 'connect ECONNREFUSED 10.0.0.1:443' })])],
  ['an address', withStatus([condition({ type: 'Succeeded', status: 'Unknown', message: 'dial 127.0.0.1:80' })])],
  ['appears twice', withStatus([condition(), condition({ type: 'Valid' }), condition({ type: 'Valid' })])],
  ['summary is not first', withStatus([condition({ type: 'Valid' }), condition()])],
  ['neither', withStatus([condition({ type: 'Valid' })])],
  ['contradicts Ready=True', withStatus([condition({ status: 'True' }), reconciling])],
  ['only be there while true', withStatus([condition(), condition({ type: 'Stalled' })])],
  ['exclude each other', withStatus([condition(), reconciling, stalled])],
  ['needs Ready=False', withStatus([condition({ status: 'Unknown' }), stalled])],
  ['ended and Reconciling', withStatus([condition({ type: 'Succeeded' }), reconciling])],
  ['contradicts', withStatus([condition({ type: 'Succeeded', status: 'False' })], { phase: 'Succeeded' })],
])('finds %s', (problem, object) => {
  expect(lintStatus(object).join('\n')).toContain(problem)
})
