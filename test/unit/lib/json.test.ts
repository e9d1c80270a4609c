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

  it('is the same text however deep the value lies: deep down it is written in another way', () => {
    const deep = (value: unknown, levels: number) => {
      let text: unknown = value
      for (let level = 0; level < levels; level++) text = level % 2 === 0 ? [text] : { a: text }
      return canonicalJson(text)
    }
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const inside = canonicalJson(value)
        for (const levels of [98, 100, 102]) {
          expect(deep(value, levels)).toBe(`${'{"a":['.repeat(levels / 2)}${inside}${']}'.repeat(levels / 2)}`)
        }
      }),
    )
  })

  it('writes texts as JSON.stringify does', () => {
    const texts = fc.string({ unit: 'binary', maxLength: 300 })
    fc.assert(fc.property(texts, (text) => canonicalJson(text) === JSON.stringify(text)))
    for (let code = 0; code < 0x1_0000; code++) {
      const text = `a${String.fromCharCode(code)}b`
      if (canonicalJson(text) !== JSON.stringify(text)) throw new Error(`another text for code unit ${code}`)
    }
  })

  it('takes what is nested as deep as the API server takes it', () => {
    for (const text of ['['.repeat(10_000) + ']'.repeat(10_000), `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`]) {
      expect(canonicalJson(JSON.parse(text))).toBe(text)
    }
  })
})

describe('sameJson', () => {
  const sameText = (a: unknown, b: unknown) => canonicalJson(a) === canonicalJson(b)

  it('says what the canonical texts say', () => {
    const values = fc.anything({
      key: fc.constantFrom('a', 'b', '__proto__', 'constructor', '0'),
      values: [fc.constantFrom(undefined, null, 0, -0, 1, Number.NaN, '', 'a', true)],
      maxDepth: 3,
      maxKeys: 3,
    })
    fc.assert(
      fc.property(values, values, (a, b) => {
        expect(sameJson(a, b)).toBe(sameText(a, b))
        expect(sameJson(a, structuredClone(a))).toBe(true)
      }),
      { numRuns: 1000 },
    )
  })

  it.each([
    [{ a: 1, b: undefined }, { c: undefined, a: 1 }, true],
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
    [[undefined], [null], true],
    [[], [undefined], false],
    [[], {}, false],
    [{ a: 1 }, { b: 1 }, false],
    [JSON.parse('{"__proto__":{}}'), { a: {} }, false],
    [{ constructor: Object }, { a: 1 }, false],
  ])('of %j and %j', (a, b, same) => {
    expect(sameJson(a, b)).toBe(same)
    expect(sameJson(b, a)).toBe(same)
    expect(sameText(a, b)).toBe(same)
  })

  it('takes what is nested as deep as the API server takes it', () => {
    const deep = (end: number) => JSON.parse(`${'[{"a":'.repeat(5000)}${end}${'}]'.repeat(5000)}`)
    expect(sameJson(deep(1), deep(1))).toBe(true)
    expect(sameJson(deep(1), deep(2))).toBe(false)
  })
})
