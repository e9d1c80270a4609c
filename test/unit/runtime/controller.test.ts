import { expect, test } from 'vitest'
import type { KubeObject, ResourceType } from '../../../src/lib/object.ts'
import { watchOwned } from '../../../src/runtime/controller.ts'
import type { Reader } from '../../../src/runtime/result.ts'

const run: ResourceType<KubeObject> = { apiVersion: 'g/v1', kind: 'Run', plural: 'runs', namespaced: true }
const job: ResourceType<KubeObject> = { apiVersion: 'batch/v1', kind: 'Job', plural: 'jobs', namespaced: true }

function readerOf(...runs: KubeObject[]): Reader {
  const get = (_: unknown, key: string) => runs.find(({ metadata }) => `${metadata.namespace}/${metadata.name}` === key)
  return {
    get,
    list: () => [],
    byIndex: () => [],
    byOwner: () => [],
    specChangedAt: () => undefined,
  } as unknown as Reader
}

const owner = { apiVersion: 'g/v1', kind: 'Run', metadata: { name: 'r', namespace: 'a', uid: 'u1' } }

function jobOf(reference: object | undefined): KubeObject {
  const ownerReferences = reference === undefined ? [] : [reference]
  return { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'j', namespace: 'a', ownerReferences } } as KubeObject
}
const reference = { apiVersion: 'g/v1', kind: 'Run', name: 'r', uid: 'u1', controller: true }

test.each([
  ['its owner', jobOf(reference), readerOf(owner), ['a/r']],
  ['its owner, not cached yet', jobOf(reference), readerOf(), ['a/r']],
  ['nobody, when the owner is an earlier object of that name', jobOf({ ...reference, uid: 'u0' }), readerOf(owner), []],
  ['nobody, when the owner is of another kind', jobOf({ ...reference, kind: 'Session' }), readerOf(owner), []],
  ['nobody, when the reference is not the controller', jobOf({ ...reference, controller: false }), readerOf(owner), []],
  ['nobody, without an owner', jobOf(undefined), readerOf(owner), []],
])('a child wakes %s', (_, child, read, keys) => {
  expect(watchOwned(job, run).keys(child, read)).toEqual(keys)
})
