import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../src/lib/json.ts'
import { isPointer, parsePointer, resolvePointer } from '../../../src/lib/pointer.ts'

const escaped = (token: string) => token.replaceAll('~', '~0').replaceAll('/', '~1')

describe('JSON Pointer (RFC 6901)', () => {
  const sample: Json = {
    foo: ['bar', 'baz'],
    '': 0,
    'a/b': 1,
    'c%d': 2,
    'e^f': 3,
    'g|h': 4,
    'i\\j': 5,
    'k"l': 6,
    ' ': 7,
    'm~n': 8,
  }

  it.each([
    ['', sample],
    ['/foo', ['bar', 'baz']],
    ['/foo/0', 'bar'],
    ['/', 0],
    ['/a~1b', 1],
    ['/c%d', 2],
    ['/e^f', 3],
    ['/g|h', 4],
    ['/i\\j', 5],
    ['/k"l', 6],
    ['/ ', 7],
    ['/m~0n', 8],
  ])('resolves %j as section 5 says [A-383]', (pointer, value) => {
    expect(resolvePointer(sample, pointer)).toEqual(value)
  })

  it.each([
    '/foo/2',
    '/foo/-',
    '/foo/00',
    '/foo/+1',
    '/foo/0/length',
    '/bar',
    '/foo/length',
    '/constructor',
    '/__proto__',
  ])('finds nothing at %j', (pointer) => {
    expect(resolvePointer(sample, pointer)).toBeUndefined()
  })

  it('finds nothing inside a text, and null is a value', () => {
    expect(resolvePointer('{"a":1}', '/a')).toBeUndefined()
    expect(resolvePointer({ a: null }, '/a')).toBeNull()
  })

  it.each(['foo', '/a~', '/a~2', '#/a'])('refuses %j, which is no pointer', (pointer) => {
    expect(isPointer(pointer)).toBe(false)
    expect(() => parsePointer(pointer)).toThrow(SyntaxError)
  })

  it('parses what escaping makes of any tokens, and follows them', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { maxLength: 5 }), (tokens) => {
        const pointer = tokens.map((token) => `/${escaped(token)}`).join('')
        expect(isPointer(pointer)).toBe(true)
        expect(parsePointer(pointer)).toEqual(tokens)
        const nested = tokens.reduceRight<Json>((inner, token) => Object.fromEntries([[token, inner]]), 'found')
        expect(resolvePointer(nested, pointer)).toBe('found')
      }),
    )
  })
})
