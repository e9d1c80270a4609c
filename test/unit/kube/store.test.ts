import { describe, expect, test } from 'vitest'
import type { ConfigMap } from '../../../src/kube/core-types.ts'
import { Store } from '../../../src/kube/store.ts'
import { configMap } from './support.ts'

function labelled(name: string, version: number, app: string): ConfigMap {
  const object = configMap(name, version)
  return { ...object, metadata: { ...object.metadata, labels: { app } } }
}

function store(): Store<ConfigMap> {
  return new Store<ConfigMap>({
    freeze: true,
    indexes: {
      byApp: (object) => (object.metadata.labels?.app === undefined ? [] : [object.metadata.labels.app]),
      byLetter: (object) => [...object.metadata.name],
    },
  })
}

const names = (objects: readonly { readonly metadata: { readonly name: string } }[]) =>
  objects.map(({ metadata }) => metadata.name).sort()

describe('indexes', () => {
  test('follow every change', () => {
    const held = store()
    held.replace([labelled('ab', 1, 'red'), labelled('bc', 2, 'red'), configMap('cd', 3)])
    expect(names(held.byIndex('byApp', 'red'))).toEqual(['ab', 'bc'])
    expect(names(held.byIndex('byLetter', 'c'))).toEqual(['bc', 'cd'])
    held.put(labelled('ab', 4, 'blue'))
    expect(names(held.byIndex('byApp', 'red'))).toEqual(['bc'])
    expect(names(held.byIndex('byApp', 'blue'))).toEqual(['ab'])
    held.remove(labelled('bc', 5, 'red'))
    expect(names(held.byIndex('byApp', 'red'))).toEqual([])
    held.replace([])
    expect(names(held.byIndex('byLetter', 'a'))).toEqual([])
  })

  test('hold one object, several and one again in the order in which they came', () => {
    const held = store()
    const found = () => held.byIndex('byApp', 'red').map(({ metadata }) => metadata.name)
    held.put(labelled('x', 1, 'red'))
    expect(found()).toEqual(['x'])
    held.put(labelled('x', 2, 'red'))
    expect(held.byIndex('byApp', 'red')).toEqual([labelled('x', 2, 'red')])
    held.put(labelled('b', 3, 'red'))
    held.put(labelled('a', 4, 'red'))
    expect(found()).toEqual(['x', 'b', 'a'])
    for (const name of ['b', 'x']) held.remove(labelled(name, 5, 'red'))
    expect(found()).toEqual(['a'])
    held.remove(labelled('a', 6, 'red'))
    expect(found()).toEqual([])
  })

  test('hold an object once that has a value twice', () => {
    const held = store()
    held.put(configMap('aa', 1))
    expect(names(held.byIndex('byLetter', 'a'))).toEqual(['aa'])
    held.put(configMap('ba', 2))
    held.remove(configMap('aa', 3))
    expect(names(held.byIndex('byLetter', 'a'))).toEqual(['ba'])
  })

  test('one that was not declared is a mistake of the program', () => {
    expect(() => store().byIndex('byOwner', 'x')).toThrow('the store has no index byOwner')
  })

  test('objects are listed by namespace', () => {
    const held = store()
    const elsewhere = configMap('z', 9)
    held.replace([configMap('x', 1), { ...elsewhere, metadata: { ...elsewhere.metadata, namespace: 'b' } }])
    expect(names(held.list('a'))).toEqual(['x'])
    expect(names(held.list('b'))).toEqual(['z'])
    expect(names(held.list('c'))).toEqual([])
    expect(names(held.list())).toEqual(['x', 'z'])
    expect(held.get('b/z')?.metadata.name).toBe('z')
  })
})

describe('a new list', () => {
  test('is compared with what was held, and what is missing is deleted in its last known state', () => {
    const held = store()
    held.replace([configMap('x', 1), configMap('y', 2), configMap('z', 3)])
    const changes = held.replace([configMap('y', 2), configMap('z', 8), configMap('n', 9)])
    expect(changes.map(({ type, key, initial }) => [type, key, initial])).toEqual([
      ['deleted', 'a/x', false],
      ['updated', 'a/z', false],
      ['added', 'a/n', false],
    ])
    expect(changes[0]?.object.data?.value).toBe('1')
    expect(changes[1]?.old?.data?.value).toBe('3')
  })

  test('may be older than what is held, when the server was restored', () => {
    const held = store()
    held.replace([configMap('x', 900)])
    held.replace([configMap('x', 5)])
    expect(held.get('a/x')?.metadata.resourceVersion).toBe('5')
  })

  test('is what synced waits for, be it empty', async () => {
    const held = store()
    expect(held.hasSynced).toBe(false)
    held.replace([])
    await held.synced
    expect(held.hasSynced).toBe(true)
  })
})

test('versions are compared as integers, not as texts', () => {
  const held = store()
  held.put(configMap('x', 9))
  expect(held.put(configMap('x', 10))).toHaveLength(1)
})

describe('what is stored', () => {
  const entry = (manager: string, time: string, fields: object) => ({ manager, time, fieldsV1: fields })

  function withFields(managedFields: object[]): ConfigMap {
    const object = configMap('x', 1)
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{…}', mine: 'kept' }
    return { ...object, metadata: { ...object.metadata, annotations, ...{ managedFields } } }
  }

  test('has no managedFields and no annotation of client-side apply', () => {
    const held = store()
    held.put(withFields([]))
    expect(held.get('a/x')?.metadata).toEqual({
      name: 'x',
      namespace: 'a',
      uid: 'uid-x',
      resourceVersion: '1',
      annotations: { mine: 'kept' },
    })
  })

  test('keeps the newest time at which the spec was changed', () => {
    const held = store()
    held.put(
      withFields([
        entry('a', '2026-01-01T00:00:00Z', { 'f:spec': { 'f:x': {} } }),
        entry('b', '2026-01-03T00:00:00Z', { 'f:spec': { 'f:y': {} } }),
        entry('c', '2026-01-09T00:00:00Z', { 'f:status': {} }),
        entry('d', '2026-01-02T00:00:00Z', { 'f:metadata': {}, 'f:spec': {} }),
      ]),
    )
    expect(held.specChangedAt('a/x')).toBe('2026-01-03T00:00:00Z')
    held.remove(configMap('x', 2))
    expect(held.specChangedAt('a/x')).toBeUndefined()
  })

  test('has nothing of what is to be trimmed', () => {
    const held = new Store<ConfigMap>({
      trim: (object) => {
        delete object.data
      },
    })
    held.put(configMap('x', 1))
    expect(held.get('a/x')).not.toHaveProperty('data')
    expect(held.heldOr(configMap('y', 1))).not.toHaveProperty('data')
  })

  test('shares its conditions, owners and namespace with others that say the same', () => {
    const held = store()
    const owners = [{ apiVersion: 'example.dev/v1', kind: 'Thing', name: 'o', uid: 'u' }]
    const conditions = [{ type: 'Ready', reason: 'Ready', message: 'Every check passed.', status: 'True' }]
    const told = () => {
      const { metadata, ...rest } = configMap('x', 1)
      return JSON.parse(
        JSON.stringify({ ...rest, metadata: { ...metadata, ownerReferences: owners }, status: { conditions } }),
      )
    }
    held.put(told())
    expect(held.get('a/x')).toEqual(told())
  })

  test('has in its conditions what was there and nothing else, as those of a Pod', () => {
    const held = store()
    const conditions = [{ type: 'Initialized', status: 'True', lastTransitionTime: null }]
    held.put({ ...configMap('x', 1), ...{ status: { conditions: structuredClone(conditions) } } })
    expect(held.get('a/x')).toStrictEqual({ ...configMap('x', 1), status: { conditions } })
  })

  test('is kept in place of the same version of it in a list, which is slimmed otherwise', () => {
    const held = store()
    const changed = entry('a', '2026-01-01T00:00:00Z', { 'f:spec': {} })
    held.replace([held.heldOr(withFields([changed]))])
    expect(held.get('a/x')?.metadata).not.toHaveProperty('managedFields')
    expect(held.specChangedAt('a/x')).toBe('2026-01-01T00:00:00Z')
    expect(held.heldOr(withFields([]))).toBe(held.get('a/x'))
    const newer = held.heldOr(configMap('x', 2))
    expect(newer.metadata.resourceVersion).toBe('2')
    expect(held.replace([newer])).toHaveLength(1)
  })
})
