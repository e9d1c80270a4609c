import { expect, test } from 'vitest'
import { applyBody, applyStatusBody } from '../../../src/kube/apply.ts'

const read = {
  apiVersion: 'graphwright.dev/v1alpha1',
  kind: 'Thing',
  metadata: {
    name: 'x',
    namespace: 'a',
    uid: 'u',
    resourceVersion: '7',
    generation: 3,
    creationTimestamp: '2026-01-01T00:00:00Z',
    finalizers: ['f'],
    labels: { l: '1' },
    annotations: { n: '2' },
    ownerReferences: [],
    managedFields: [{}],
  },
  spec: { s: 1 },
  status: { t: 2 },
}

test('an apply sends the content, and of the metadata only what a client may own', () => {
  expect(applyBody(read)).toEqual({
    apiVersion: read.apiVersion,
    kind: 'Thing',
    metadata: {
      name: 'x',
      namespace: 'a',
      uid: 'u',
      labels: { l: '1' },
      annotations: { n: '2' },
      ownerReferences: [],
      finalizers: ['f'],
    },
    spec: { s: 1 },
  })
})

test('content outside spec is content too', () => {
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' }, type: 'Opaque', data: { a: 'YQ==' } }
  expect(applyBody(secret)).toEqual(secret)
})

test('a status apply sends the status, the version it was computed from and the uid', () => {
  expect(applyStatusBody(read)).toEqual({
    apiVersion: read.apiVersion,
    kind: 'Thing',
    metadata: { name: 'x', namespace: 'a', uid: 'u', resourceVersion: '7' },
    status: { t: 2 },
  })
})

test('a status apply without a version is a mistake of the program', () => {
  const { resourceVersion: _version, ...metadata } = read.metadata
  expect(() => applyStatusBody({ ...read, metadata })).toThrow('without metadata.resourceVersion')
})
