import { describe, expect, it } from 'vitest'
import { prepareSchema, SchemaError } from '../../../src/lib/json-schema.ts'

function problem(schema: Record<string, unknown>): string {
  try {
    prepareSchema(schema)
  } catch (error) {
    if (error instanceof SchemaError) return `${error.code}: ${error.message}`
    throw error
  }
  return 'none'
}

describe('JSON Schemas of users', () => {
  const verdict = {
    type: 'object',
    properties: { escalate: { type: 'boolean' } },
    required: ['escalate'],
    additionalProperties: false,
  }

  it.each([
    [{ escalate: true }, undefined],
    [{}, "the value must have required property 'escalate'"],
    [{ escalate: 'yes' }, 'the value at /escalate must be boolean'],
    [{ escalate: true, more: 1 }, 'the value must not have the property "more"'],
    [[], 'the value must be object'],
  ])('[A-379] [A-381] [A-384] checks %j', (value, complaint) => {
    expect(prepareSchema(verdict)(value)).toBe(complaint)
  })

  it('a pattern takes time linear in the text', () => {
    const check = prepareSchema({ type: 'string', pattern: '^(a+)+$' })
    const start = performance.now()
    expect(check(`${'a'.repeat(50_000)}!`)).toMatch(/must match pattern/)
    expect(check('aaa')).toBeUndefined()
    expect(performance.now() - start).toBeLessThan(1000)
  })

  it('patterns of properties run on RE2 as well', () => {
    const check = prepareSchema({ patternProperties: { '^x-\\d+$': { type: 'number' } }, additionalProperties: false })
    expect(check({ 'x-1': 1 })).toBeUndefined()
    expect(check({ 'x-1': 'a' })).toBe('the value at /x-1 must be number')
    expect(check({ y: 1 })).toBe('the value must not have the property "y"')
    expect(problem({ patternProperties: { '(?<!a)b': {} } })).toMatch(/^schema_unsupported: pattern/)
  })

  it('keeps patterns apart', () => {
    const check = prepareSchema({ properties: { a: { pattern: '^a$' }, b: { pattern: '^b$' } } })
    expect(check({ a: 'a', b: 'b' })).toBeUndefined()
    expect(check({ a: 'a', b: 'a' })).toBe('the value at /b must match pattern "^b$"')
  })

  it('takes the escapes of JavaScript', () => {
    expect(prepareSchema({ pattern: '^\\u00e9\\d+\\/$' })('é12/')).toBeUndefined()
  })

  it.each([
    [{ type: 'strin' }, 'schema_invalid'],
    [{ typ: 'string' }, 'schema_invalid: strict mode: unknown keyword: "typ"'],
    [{ pattern: '(?=a)b' }, 'schema_unsupported: pattern "(?=a)b" is not in RE2 syntax'],
    [{ $ref: 'https://example.com/schema.json' }, 'schema_unsupported'],
    [{ $schema: 'http://json-schema.org/draft-04/schema#' }, 'schema_unsupported'],
  ])('refuses %j', (schema, expected) => {
    expect(problem(schema)).toContain(expected)
  })

  it('follows references inside the schema, and keeps schemas apart', () => {
    const local = { $id: 'https://example.com/a', $ref: '#/$defs/n', $defs: { n: { type: 'number' } } }
    expect(prepareSchema(local)('x')).toBe('the value must be number')
    // The same $id in another schema is another schema.
    expect(prepareSchema({ $id: 'https://example.com/a', type: 'string' })('x')).toBeUndefined()
  })

  it('never changes the value it checks', () => {
    const value = Object.freeze({})
    expect(prepareSchema({ properties: { a: { type: 'string', default: 'x' } } })(value)).toBeUndefined()
    expect(value).toEqual({})
  })
})
