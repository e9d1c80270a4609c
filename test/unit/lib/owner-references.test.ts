import { describe, expect, test } from 'vitest'
import { controllerOf, isControlledBy, ownedBy } from '../../../src/lib/owner-references.ts'
import { configMap } from '../kube/support.ts'

const owner = configMap('owner', 1)
const clusterOwner = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n', uid: 'u' } }

describe('an owner reference', () => {
  test('names the owner as the managing controller', () => {
    expect(ownedBy(owner)).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: 'owner',
      uid: 'uid-owner',
      controller: true,
      blockOwnerDeletion: true,
    })
  })

  test.each([
    ['of another namespace', () => ownedBy(owner, { metadata: { namespace: 'b' } }), 'namespace b'],
    ['with a namespace for a child without one', () => ownedBy(owner, { metadata: {} }), 'cluster-scoped'],
    ['without a uid', () => ownedBy({ ...owner, metadata: { name: 'x' } }), 'no uid'],
  ])('is refused to an owner %s', (_title, run, text) => {
    expect(run).toThrow(text)
  })

  test('to a cluster-scoped owner is possible from anywhere', () => {
    expect(ownedBy(clusterOwner, owner).uid).toBe('u')
  })
})

test('a child belongs to the owner with that UID, not to a successor of its name', () => {
  const child = { metadata: { ownerReferences: [{ ...ownedBy(clusterOwner), controller: false }, ownedBy(owner)] } }
  expect(controllerOf(child)?.name).toBe('owner')
  expect(isControlledBy(child, owner)).toBe(true)
  expect(isControlledBy(child, { metadata: { ...owner.metadata, uid: 'successor' } })).toBe(false)
  expect(isControlledBy(configMap('orphan', 1), { metadata: {} })).toBe(false)
})
