import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkStrictValue, maxJsonDepth, parseStrictJson, StrictJsonError } from '../../../src/lib/strict-json.ts'

function refusal(text: string): string {
  try {
    parseStrictJson(text)
  } catch (error) {
    if (error instanceof StrictJsonError) return `${error.code}: ${error.message}`
    throw error
  }
  return 'accepted'
}

describe('strict JSON', () => {
  it('reads what JSON.stringify writes', () => {
    const value = fc.jsonValue({ maxDepth: 6 })
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 2), (json, indent) => {
        // -0 is written as 0.
        expect(parseStrictJson(JSON.stringify(json, null, indent))).toEqual(JSON.parse(JSON.stringify(json)))
      }),
    )
  })

  it('refuses a key that stands twice in one object, however it is spelled', () => {
    expect(refusal('{"a":1,"a":2}')).toBe('duplicate_key: key at /a stands there twice')
    expect(refusal('{"x":[{"a":1},{"\\u0061":{"a":1},"a":2}]}')).toBe('duplicate_key: key at /x/1/a stands there twice')
    expect(parseStrictJson('{"a":{"a":[{"a":1},{"a":2}]},"b":"a"}')).toEqual({ a: { a: [{ a: 1 }, { a: 2 }] }, b: 'a' })
  })

  it('finds any duplicate that is put into any object', () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { minKeys: 1, noNullPrototype: true })
    fc.assert(
      fc.property(object, fc.nat(), (members, pick) => {
        const entries = Object.entries(members).map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`)
        const twice = [...entries, entries[pick % entries.length]]
        expect(refusal(`{${twice.join(',')}}`)).toMatch(/^duplicate_key/)
      }),
    )
  })

  it('keeps integers exact or refuses them by name', () => {
    expect(parseStrictJson('[9007199254740992,-9007199254740992,18014398509481984]')).toEqual([
      2 ** 53,
      -(2 ** 53),
      2 ** 54,
    ])
    expect(refusal('{"n":[0,9007199254740993]}')).toBe(
      'number_not_exact: integer at /n/1 would lose digits; write it as text',
    )
    expect(refusal('1e999')).toMatch(/^number_not_exact/)
    expect(parseStrictJson('[1.5,1e300,-0.1]')).toEqual([1.5, 1e300, -0.1])
  })

  it('an accepted integer is written back as it was', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), (integer) => {
        const text = String(integer)
        const exact = JSON.stringify(Number(text)) === text
        expect(refusal(text) === 'accepted').toBe(exact)
        if (exact) expect(JSON.stringify(parseStrictJson(text))).toBe(text)
      }),
    )
  })

  it('knows an integer that would lose digits however it is spelled', () => {
    for (const text of ['9007199254740993.0', '9007199254740993e0', '900719925474099.3e1', '-90071992547409930E-1']) {
      expect(refusal(text), text).toMatch(/^number_not_exact/)
    }
    expect(parseStrictJson('[1.0,1e3,100e-2,0.0,-0.0,1E+22,9007199254740994.00]')).toEqual([
      1,
      1000,
      1,
      0,
      -0,
      1e22,
      2 ** 53 + 2,
    ])
  })

  it('limits the depth, of lists within a text of any length', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    expect(refusal(nested(maxJsonDepth))).toBe('accepted')
    expect(refusal(nested(maxJsonDepth + 1))).toMatch(/^too_deep/)
    expect(refusal(nested(1_000_000))).toMatch(/^too_deep/)
  })

  it('reads long texts with many escapes', () => {
    const text = JSON.stringify({ a: '\\"'.repeat(500_000), b: '\n'.repeat(500_000) })
    expect(parseStrictJson(text)).toEqual(JSON.parse(text))
  })

  it.each([
    ['', 'it is empty'],
    ['```json\n{}\n```', 'code fence'],
    ['{"a":', 'ends too early'],
    ['{"password":"hunter2",}', 'line 1, column 23'],
  ])('says what is wrong with %j and does not quote it', (text, hint) => {
    expect(refusal(text)).toContain(`invalid_json: not valid JSON: `)
    expect(refusal(text)).toContain(hint)
    expect(refusal(text)).not.toContain('hunter2')
  })
})

describe('checkStrictValue', () => {
  function problem(value: unknown): string | undefined {
    try {
      checkStrictValue(value)
      return undefined
    } catch (error) {
      return (error as Error).message
    }
  }

  it('refuses integers that may have been others before they were parsed', () => {
    expect(problem(JSON.parse('{"a/b":[0,{"id":9007199254740993}]}'))).toBe(
      'integer at /a~1b/1/id would lose digits; write it as text',
    )
    expect(problem(JSON.parse('9007199254740991'))).toBeUndefined()
    expect(problem([1.5, -0, 0.1, true, null, '9007199254740993'])).toBeUndefined()
  })

  it('refuses what is too deep, at any depth', () => {
    const nested = (depth: number) => JSON.parse('{"a":'.repeat(depth) + 1 + '}'.repeat(depth))
    expect(problem(nested(maxJsonDepth))).toBeUndefined()
    expect(problem(nested(maxJsonDepth + 1))).toMatch('100 levels')
    expect(problem(nested(9000))).toMatch('100 levels')
  })

  it('takes everything that the strict parser takes but large integers', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const [strict, lax] = [refusal(text), problem(JSON.parse(text))]
        if (strict === 'accepted' && lax !== undefined) expect(lax).toMatch('would lose digits')
      }),
    )
  })
})
