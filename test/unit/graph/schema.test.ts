import { describe, expect, it } from 'vitest'
import type { GraphDocument } from '../../../src/api/graph-document.ts'
import { compile } from '../../../src/graph/compile.ts'
import { prepareSchema } from '../../../src/lib/json-schema.ts'
import { changed, codesOf, nodeOf, now, triageAndEscalate } from '../../kit/graph-documents.ts'

function withSchema(schema: object): GraphDocument {
  return changed(triageAndEscalate(), (document) => {
    nodeOf(document, 'parse').outputSchema = schema as Record<string, unknown>
  })
}

function deep(levels: number): object {
  return levels === 0 ? { type: 'string' } : { type: 'array', items: deep(levels - 1) }
}

const accepted: [string, object][] = [
  [
    '[A-384] the sample',
    {
      type: 'object',
      properties: { escalate: { type: 'boolean' } },
      required: ['escalate'],
      additionalProperties: false,
    },
  ],
  ['an empty schema', {}],
  ['several types', { type: ['string', 'null'] }],
  ['bounds', { type: 'number', minimum: 0, exclusiveMaximum: 5, multipleOf: 0.5 }],
  ['lists', { type: 'array', items: { type: 'string', maxLength: 5 }, minItems: 1, uniqueItems: true }],
  ['tuples', { type: 'array', prefixItems: [{ type: 'string' }], items: false }],
  ['choices', { oneOf: [{ const: 'a' }, { enum: ['b', 1, true] }], not: { const: 'c' } }],
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  ['conditions', { if: { required: ['a'] }, then: { required: ['b'] }, else: {} }],
  ['a pattern', { type: 'string', pattern: '^[a-z]+\\d{1,3}$' }],
  ['patterns of names', { patternProperties: { '^x-': { type: 'string' } }, propertyNames: { maxLength: 9 } }],
  ['a reference', { $ref: '#/$defs/severity', $defs: { severity: { enum: ['low', 'high'] } } }],
  ['a reference to the root, deeper in the value', { type: 'object', properties: { child: { $ref: '#' } } }],
  [
    'annotations',
    {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      title: 'T',
      description: 'D',
      examples: [1],
      default: 1,
    },
  ],
  ['a property declared twice', { properties: { 'x-a': {} }, patternProperties: { '^x-': {} } }],
  ['nesting', deep(12)],
]

const refused: [string, string, object][] = [
  ['an unknown type', 'schema_invalid', { type: 'text' }],
  ['required that is no list', 'schema_invalid', { required: 'escalate' }],
  ['properties that are no schemas', 'schema_invalid', { properties: { a: 'string' } }],
  ['an empty enum', 'schema_invalid', { enum: [] }],
  ['a negative length', 'schema_invalid', { minLength: -1 }],
  ['a dangling reference', 'schema_invalid', { $ref: '#/$defs/none' }],
  [
    'a reference to itself',
    'schema_invalid',
    { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' },
  ],
  ['a choice of itself', 'schema_invalid', { anyOf: [{ $ref: '#' }] }],
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  ['then without if', 'schema_invalid', { then: {} }],
  ['too deep', 'schema_invalid', deep(17)],
  ['too large', 'schema_invalid', { description: 'x'.repeat(33_000) }],
  ['too many', 'schema_invalid', { allOf: Array.from({ length: 501 }, () => ({})) }],
  ['a pattern that is large', 'schema_invalid', { pattern: '(a{1,1000})'.repeat(100) }],
  ['a pattern that grows inside itself', 'schema_invalid', { pattern: '((a{1,30}){1,30}){1,30}' }],
  ['a pattern of names that is large', 'schema_invalid', { patternProperties: { '(a{1,1000}){1,5}': {} } }],
  ['many patterns', 'schema_invalid', { allOf: Array.from({ length: 400 }, () => ({ pattern: '^(a{1,30}){1,30}$' })) }],
  ['a remote reference', 'schema_unsupported', { $ref: 'https://example.com/schema.json' }],
  ['an unknown keyword', 'schema_unsupported', { type: 'object', requierd: ['a'] }],
  ['a dynamic reference', 'schema_unsupported', { $dynamicRef: '#a' }],
  ['another dialect', 'schema_unsupported', { $schema: 'http://json-schema.org/draft-04/schema#' }],
  ['look-ahead', 'schema_unsupported', { pattern: '^(?=a)b' }],
  ['a back-reference', 'schema_unsupported', { pattern: '(a)\\1' }],
  ['a list of items', 'schema_unsupported', { items: [{ type: 'string' }] }],
  ['null as a constant', 'schema_unsupported', { properties: { a: { const: null } } }],
  ['null among the choices', 'schema_unsupported', { enum: ['a', null] }],
]

describe('[A-081] outputSchema', () => {
  it.each(accepted)('accepts %s, and so does what runs it', (_title, schema) => {
    expect(codesOf(compile(withSchema(schema), { now }))).toEqual([])
    expect(() => prepareSchema(schema as Record<string, unknown>)).not.toThrow()
  })

  it.each(refused)('refuses %s as %s', (_title, code, schema) => {
    expect(codesOf(compile(withSchema(schema), { now }))).toEqual([`${code} parse`])
  })

  it('takes little time, whatever the patterns of a document', () => {
    const pattern = '^(a{1,30}){1,30}$'
    const document = changed(triageAndEscalate(), ({ nodes }) => {
      const [parse] = nodes.filter(({ kind }) => kind === 'step_parse_json')
      const schema = { allOf: Array.from({ length: 300 }, () => ({ pattern })) }
      for (let n = 0; n < 15; n += 1) nodes.push({ ...parse, id: `parse-${n}`, outputSchema: schema } as never)
    })
    const started = performance.now()
    const found = codesOf(compile(document, { now })).filter((code) => code.startsWith('schema'))
    expect(found).toHaveLength(1)
    expect(performance.now() - started).toBeLessThan(3000)
  })

  it('warns that a format is not checked', () => {
    expect(compile(withSchema({ type: 'string', format: 'date-time' }), { now })).toMatchObject({
      kind: 'compiled',
      warnings: expect.arrayContaining([expect.objectContaining({ code: 'format_unchecked', node: 'parse' })]),
    })
  })
})
