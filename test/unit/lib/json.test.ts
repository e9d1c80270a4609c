import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson, sameJson } from '../../../src/lib/json.ts'

describe('canonicalJson', () => {
  it('is JSON of the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  it.each([
    [{ b: 1, a: [{ d: 1, c: 2 }, null] }, '{"a":[{"c":2,"d":1},null],"b":1}'],
    [{ 9: 1, 10: 2, a: 3 }, '{"10":2,"9":1,"a":3}'],
    [JSON.parse('{"b":1,"__proto__":{"y":1,"x":2}}'), '{"__proto__":{"x":2,"y":1},"b":1}'],
    [{ a: undefined, b: [undefined, 'é\n'] }, '{"b":[null,"é\\n"]}'],
    [[[], {}, '', 0, -0, false, null], '[[],{},"",0,0,false,null]'],
    ['\ud800', '"\\ud800"'],
  ])('of %j is %s', (value, text) => {
    expect(canonicalJson(value)).toBe(text)
  })

  it('does not depend on the order of keys', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
        const reversed = Object.fromEntries(Object.entries(object).reverse())
        expect(canonicalJson(reversed)).toBe(canonicalJson(object))
        expect(sameJson(reversed, object)).toBe(true)
      }),
    )
  })

  it('takes what is nested as deep as the API server takes it', () => {
    for (const text of ['['.repeat(10_000) + ']'.repeat(10_000), `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`]) {
      expect(canonicalJson(JSON.parse(text))).toBe(text)
    }
  })
})
