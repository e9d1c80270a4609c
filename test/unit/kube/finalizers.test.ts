import { describe, expect, test } from 'vitest'
import { addFinalizerOps, removeFinalizerOps } from '../../../src/kube/finalizers.ts'

// What the server makes of these operations is tested on a real one.
describe('the patch that', () => {
  test('adds the first finalizer tests that there is none', () => {
    expect(addFinalizerOps([], 'a')).toEqual([
      { op: 'test', path: '/metadata/finalizers', value: null },
      { op: 'add', path: '/metadata/finalizers', value: ['a'] },
    ])
  })

  test('adds another keeps those that were read', () => {
    expect(addFinalizerOps(['x'], 'a')).toEqual([
      { op: 'test', path: '/metadata/finalizers', value: ['x'] },
      { op: 'add', path: '/metadata/finalizers/-', value: 'a' },
    ])
  })

  test('removes one tests that it stands there', () => {
    expect(removeFinalizerOps(['x', 'a'], 'a')).toEqual([
      { op: 'test', path: '/metadata/finalizers/1', value: 'a' },
      { op: 'remove', path: '/metadata/finalizers/1' },
    ])
  })

  test('has nothing to do is empty', () => {
    expect(addFinalizerOps(['a'], 'a')).toEqual([])
    expect(removeFinalizerOps(['x'], 'a')).toEqual([])
  })
})
