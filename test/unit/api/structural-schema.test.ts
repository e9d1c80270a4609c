import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { anyJson, anyObject } from '../../../src/api/fields.ts'
import { structuralSchema } from '../../../src/api/structural-schema.ts'

/** Schema of one field `f` of a kind `K`. */
function field(schema: z.ZodType) {
  return structuralSchema(z.strictObject({ f: schema }), 'K.spec').properties?.f
}

describe('what zod says and the API server enforces', () => {
  it('keeps bounds, patterns, enums, defaults and descriptions', () => {
    expect(field(z.string().min(1).max(5).regex(/^a+$/).describe('d'))).toEqual({
      description: 'd',
      type: 'string',
      minLength: 1,
      maxLength: 5,
      pattern: '^a+$',
    })
    expect(field(z.enum(['a', 'b']).default('a').describe('d'))).toEqual({
      description: 'd',
      type: 'string',
      enum: ['a', 'b'],
      default: 'a',
    })
  })

  it('requires what is neither optional nor defaulted', () => {
    const schema = structuralSchema(
      z.strictObject({
        a: z.string().describe('a'),
        b: z.string().optional().describe('b'),
        c: z.string().default('x').describe('c'),
      }),
      'K.spec',
    )
    expect(schema.required).toEqual(['a'])
  })

  it('drops additionalProperties: false, which a structural schema may not say beside properties', () => {
    expect(field(z.strictObject({ a: z.string().describe('a') }).describe('d'))).toEqual({
      description: 'd',
      type: 'object',
      properties: { a: { description: 'a', type: 'string' } },
      required: ['a'],
    })
  })

  it('drops the bounds that zod gives every integer and keeps the authored ones', () => {
    expect(field(z.int().describe('d'))).toEqual({ description: 'd', type: 'integer' })
    expect(field(z.int().min(1).max(9).describe('d'))).toMatchObject({ minimum: 1, maximum: 9 })
  })

  it('drops examples, which strict decoding of a CRD refuses', () => {
    expect(field(z.string().meta({ description: 'd', examples: ['x'] }))).toEqual({ description: 'd', type: 'string' })
  })

  it('keeps any JSON value without a type', () => {
    expect(field(anyJson('d'))).toEqual({ description: 'd', 'x-kubernetes-preserve-unknown-fields': true })
  })

  it('makes a free-form object a map, so that CEL sees a renamed key, and keeps its nulls', () => {
    expect(field(anyObject('d'))).toEqual({
      description: 'd',
      type: 'object',
      additionalProperties: { 'x-kubernetes-preserve-unknown-fields': true, nullable: true },
    })
  })

  it('bounds the keys of a map by a rule', () => {
    const map = z.record(z.string().max(63), z.int()).meta({ description: 'd', maxProperties: 10 })
    expect(field(map)).toEqual({
      description: 'd',
      type: 'object',
      additionalProperties: { type: 'integer' },
      maxProperties: 10,
      'x-kubernetes-validations': [
        { rule: 'self.all(key, size(key) <= 63)', message: 'a key is longer than 63 characters' },
      ],
    })
  })

  it('keeps rules, list types and formats given as meta', () => {
    const meta = {
      description: 'd',
      'x-kubernetes-list-type': 'set',
      'x-kubernetes-validations': [{ rule: 'size(self) > 0', message: 'm' }],
    }
    expect(field(z.array(z.string()).meta(meta))).toEqual({ type: 'array', items: { type: 'string' }, ...meta })
  })
})

describe('what the API server could not enforce is refused by the path of its field', () => {
  const refused: [string, z.ZodType, RegExp][] = [
    ['a missing description', z.string(), /^K\.spec\.f: has no description/],
    [
      'a description missing in a list',
      z.array(z.strictObject({ a: z.int() })).describe('d'),
      /^K\.spec\.f\[\]\.a: has/,
    ],
    ['a flag of a regular expression', z.string().regex(/a/i).describe('d'), /^K\.spec\.f: the flags of \/a\/i/],
    [
      'a look-ahead',
      z
        .string()
        .regex(/a(?!b)/)
        .describe('d'),
      /^K\.spec\.f: .*RE2/,
    ],
    ['a back-reference', z.string().regex(/(a)\1/).describe('d'), /^K\.spec\.f: .*RE2/],
    ['two regular expressions', z.string().regex(/a/).regex(/b/).describe('d'), /^K\.spec\.f: the keyword allOf/],
    [
      'refine',
      z
        .string()
        .refine((text) => text !== '')
        .describe('d'),
      /^K\.spec\.f: a custom check is invisible/,
    ],
    ['trim', z.string().trim().describe('d'), /^K\.spec\.f: a overwrite check is invisible/],
    ['transform', z.string().transform(Number).describe('d'), /^K\.spec\.f: zod's (pipe|transform) has no structural/],
    ['a union', z.union([z.string(), z.int()]).describe('d'), /^K\.spec\.f: zod's union has no structural schema/],
    ['a tuple', z.tuple([z.string()]).describe('d'), /^K\.spec\.f: zod's tuple has no structural schema/],
    ['a lazy schema', z.lazy(() => z.string()).describe('d'), /^K\.spec\.f: zod's lazy has no structural schema/],
    ['a loose object', z.looseObject({ a: z.int().describe('a') }).describe('d'), /^K\.spec\.f: use z\.strictObject/],
    ['a stripping object', z.object({ a: z.int().describe('a') }).describe('d'), /^K\.spec\.f: use z\.strictObject/],
    ['unknown without preserve', z.unknown().describe('d'), /^K\.spec\.f: has no type/],
    [
      'bounded keys without a bound on their number',
      z.record(z.string().max(9), z.int()).describe('d'),
      /maxProperties/,
    ],
    ['a pattern of keys', z.record(z.string().regex(/a/), z.int()).describe('d'), /^K\.spec\.f: keys of a record/],
  ]
  it.each(refused)('%s', (_, schema, message) => {
    expect(() => field(schema)).toThrow(message)
  })
})
