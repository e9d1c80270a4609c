import { describe, expect, it } from 'vitest'
import { namespacesOf } from '../../../src/bin/flags.ts'

const given = (text: string | undefined) => namespacesOf('--namespaces', text)

describe('--namespaces', () => {
  it('is all where it is not given', () => {
    expect(given(undefined)).toEqual([])
    expect(given('')).toEqual([])
  })

  it('takes each name once, so that nothing is watched twice', () => {
    expect(given('a, b,a,,b-2')).toEqual(['a', 'b', 'b-2'])
  })

  it.each(['..', '.', '-a', 'a-', 'A', 'a.b', 'a/b', 'a b', '*', 'a\u001b[31m', 'x'.repeat(64)])(
    'refuses %j, which would be a part of a path',
    (name) => {
      expect(() => given(`team-a,${name}`)).toThrow(/no name of a namespace/)
    },
  )

  it.each([',', ' ', ' , '])('refuses %j, which names none: that would be all', (text) => {
    expect(() => given(text)).toThrow('--namespaces names no namespace')
  })
})
