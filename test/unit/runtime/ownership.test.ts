import { expect, test } from 'vitest'
import { labels } from '../../../src/api/labels.ts'
import { type KubeObject, refOf } from '../../../src/lib/object.ts'
import { deepFreeze } from '../../../src/lib/readonly.ts'
import {
  asChild,
  contentDigestAnnotation,
  foreignController,
  isSameObject,
  strangeness,
  withContentDigest,
} from '../../../src/runtime/ownership.ts'

const owner = deepFreeze({
  apiVersion: 'graphwright.dev/v1alpha1',
  kind: 'Run',
  metadata: { name: 'run-1', namespace: 'a', uid: 'uid-1' },
})
const reference = {
  apiVersion: 'graphwright.dev/v1alpha1',
  kind: 'Run',
  name: 'run-1',
  uid: 'uid-1',
  controller: true,
  blockOwnerDeletion: true,
}

function job(metadata: Partial<KubeObject['metadata']> = {}, spec: object = { backoffLimit: 0 }): KubeObject {
  const object = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'job-1', namespace: 'a', ...metadata } }
  return Object.assign(object, { spec })
}

test('a child in the same namespace is labelled and owned', () => {
  const child = asChild(owner, deepFreeze(job({ labels: { x: 'y' } })) as KubeObject)
  expect(child.metadata.labels).toEqual({ x: 'y', [labels.managedBy]: 'graphwright' })
  expect(child.metadata.ownerReferences).toEqual([reference])
})

test('a child in another namespace, or of no namespace, is labelled and not owned', () => {
  for (const child of [job({ namespace: 'b' }), { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } }]) {
    expect(asChild(owner, child).metadata).toMatchObject({ labels: { [labels.managedBy]: 'graphwright' } })
    expect(asChild(owner, child).metadata).not.toHaveProperty('ownerReferences')
  }
})

test('owner references that a child brings are left alone, an empty list means none', () => {
  const other = { ...reference, kind: 'Session', uid: 'uid-2' }
  expect(asChild(owner, job({ ownerReferences: [other] })).metadata.ownerReferences).toEqual([other])
  expect(asChild(owner, job({ ownerReferences: [] })).metadata).not.toHaveProperty('ownerReferences')
})

test('what we made is recognised, though the server filled it in and others put labels on it', () => {
  const meant = withContentDigest(asChild(owner, job()))
  const found = structuredClone(meant)
  Object.assign(found, { spec: { backoffLimit: 0, completions: 1 }, status: { active: 1 } })
  found.metadata.labels = { ...found.metadata.labels, 'their/label': 'x' }
  expect(strangeness(found, meant)).toBeUndefined()
})

test('what says itself what it is the same by is recognised by that, however it differs', () => {
  const annotations = { [contentDigestAnnotation]: 'the first incarnation' }
  const meant = withContentDigest(asChild(owner, job({ annotations })))
  const found = withContentDigest(asChild(owner, job({ annotations }, { backoffLimit: 3 })))
  expect(strangeness(found, meant)).toBeUndefined()
  const other = withContentDigest(asChild(owner, job({ annotations: { [contentDigestAnnotation]: 'the second' } })))
  expect(strangeness(other, meant)).toBe('has other content')
})

test.each([
  ['has other content', withContentDigest(asChild(owner, job({}, { backoffLimit: 3 })))],
  ['has other content', withContentDigest(asChild(owner, job({ labels: { x: 'z' } })))],
  ['has other content', asChild(owner, job())],
  ['is not controlled by Run run-1', withContentDigest(job())],
  [
    'is controlled by Run run-1 of another uid',
    withContentDigest(asChild({ ...owner, metadata: { ...owner.metadata, uid: 'uid-0' } }, job())),
  ],
  [
    'is controlled by Run other',
    withContentDigest(asChild({ ...owner, metadata: { ...owner.metadata, name: 'other', uid: 'uid-9' } }, job())),
  ],
])('what is not ours is told apart: it %s', (why, found) => {
  expect(strangeness(found, withContentDigest(asChild(owner, job())))).toBe(why)
})

test('where no digest is meant, the content itself says whether it is the same', () => {
  const meant = asChild(owner, job({}, { a: 1, b: [{ c: 2 }] }))
  const found = { ...structuredClone(meant), status: { active: 1 }, spec: { b: [{ c: 2 }], a: 1 } }
  found.metadata.annotations = { 'their/annotation': 'x', [contentDigestAnnotation]: 'of an earlier release' }
  expect(strangeness(found, meant)).toBeUndefined()
  expect(strangeness({ ...found, ...{ spec: { a: 1, b: [{ c: 3 }] } } }, meant)).toBe('has other content')
})

test('the digest covers content and labels, in any order of keys', () => {
  const digest = (object: KubeObject) => withContentDigest(object).metadata.annotations
  expect(digest(job({}, { a: 1, b: 2 }))).toEqual(digest(job({}, { b: 2, a: 1 })))
  expect(digest(job({ annotations: {} }))).toEqual(digest(job()))
})

test('an object without a controller is nobody else s where none is meant', () => {
  expect(foreignController(job(), job())).toBeUndefined()
})

test('references name a kind, a namespace and a name', () => {
  expect(refOf(owner)).toEqual({
    apiVersion: 'graphwright.dev/v1alpha1',
    kind: 'Run',
    namespace: 'a',
    name: 'run-1',
    uid: 'uid-1',
  })
  expect(isSameObject(refOf(owner), { ...refOf(owner), uid: 'uid-2' })).toBe(true)
  expect(isSameObject(refOf(owner), { ...refOf(owner), kind: 'Session' })).toBe(false)
  expect(isSameObject(refOf(owner), { ...refOf(owner), namespace: 'b' })).toBe(false)
})
