import { expect, test } from 'vitest'
import type { KubeObject } from '../../../src/lib/object.ts'
import { Applied } from '../../../src/runtime/applied.ts'

function config(change: object = {}, metadata: Partial<KubeObject['metadata']> = {}): KubeObject {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', namespace: 'a', ...metadata } }
  return Object.assign(object, { data: { x: '1' }, ...change })
}

const answer = config({}, { uid: 'u', resourceVersion: '7' })

function afterApply(): Applied {
  const applied = new Applied()
  applied.remember(config(), answer)
  return applied
}

test('the same intent for what it led to is not applied again', () => {
  expect(afterApply().isCurrent(config(), answer)).toBe(true)
})

test('a change of the status alone brings no apply', () => {
  const written = config({ status: { n: 1 } }, { uid: 'u', resourceVersion: '8', generation: 1 })
  expect(afterApply().isCurrent(config(), written)).toBe(true)
})

test.each([
  ['nothing is known of it', config(), undefined],
  ['the intent changed', config({ data: { x: '2' } }), answer],
  ['somebody changed the content', config(), config({ data: { x: '9' } }, { uid: 'u', resourceVersion: '8' })],
  ['somebody took a label', config(), config({}, { uid: 'u', resourceVersion: '8', labels: { a: 'b' } })],
  ['it is another object of that name', config(), config({}, { uid: 'v', resourceVersion: '7' })],
])('applies when %s', (_, intent, cached) => {
  expect(afterApply().isCurrent(intent, cached)).toBe(false)
})

test('a new process applies once', () => {
  expect(new Applied().isCurrent(config(), answer)).toBe(false)
})
