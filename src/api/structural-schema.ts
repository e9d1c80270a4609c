import { z } from 'zod'
import { guard, keyLengthMarker, StructuralSchemaError } from './zod-guard.ts'

/** The part of `apiextensions.k8s.io/v1` JSONSchemaProps that generated schemas use (KEP-1693). */
export interface StructuralSchema {
  description?: string
  type?: string
  properties?: Record<string, StructuralSchema>
  required?: string[]
  additionalProperties?: StructuralSchema
  items?: StructuralSchema
  [keyword: string]: unknown
}

const preserve = 'x-kubernetes-preserve-unknown-fields'

/** Keywords that mean the same to zod and to the API server. */
const keptKeywords: ReadonlySet<string> = new Set([
  'description',
  'type',
  'enum',
  'format',
  'pattern',
  'default',
  'nullable',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  preserve,
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
  'x-kubernetes-validations',
])

/** Keywords that strict decoding of a CRD refuses and that lose nothing. */
const droppedKeywords: ReadonlySet<string> = new Set(['examples', 'readOnly', 'id', keyLengthMarker])

/**
 * Schema of the values of a free-form object. The object must be a map of these: where it merely preserves unknown
 * fields, comparing it in CEL does not see that a key was renamed, and a frozen field could be changed (tried). Without
 * nullable the server drops members that are null.
 */
const anyValue: StructuralSchema = { [preserve]: true, nullable: true }

/**
 * Translates a schema of this API into the structural schema that the API server enforces.
 * @param root name of the schema in messages: `AutomationGraph.spec`
 * @throws {StructuralSchemaError} what zod would check and the API server would not, or a field without description
 */
export function structuralSchema(schema: z.ZodType, root: string): StructuralSchema {
  const json = z.toJSONSchema(schema, {
    target: 'openapi-3.0',
    io: 'input',
    cycles: 'throw',
    reused: 'inline',
    override: (visit) => guard(root, visit),
  })
  return translate(json, root)
}

function translate(json: Record<string, unknown>, path: string): StructuralSchema {
  const result: StructuralSchema = {}
  for (const [keyword, value] of readingOrder(json)) {
    if (keptKeywords.has(keyword)) result[keyword] = value
    else if (keyword === 'properties') result.properties = translateProperties(value, path)
    else if (keyword === 'required') result.required = value as string[]
    else if (keyword === 'items') result.items = translate(asSchema(value, path), `${path}[]`)
    else if (keyword === 'additionalProperties') translateValues(value, json, result, path)
    else if (!droppedKeywords.has(keyword)) {
      throw new StructuralSchemaError(path, `the keyword ${keyword} is not part of a structural schema`)
    }
  }
  if (result.additionalProperties === anyValue) delete result[preserve]
  dropSafeIntegerBounds(result)
  boundKeys(json, result, path)
  requireType(result, path)
  return result
}

/** Description and type first, where a reader of the CRD looks for them. */
function readingOrder(json: Record<string, unknown>): [string, unknown][] {
  const { description, type, ...others } = json
  return Object.entries({ description, type, ...others }).filter(([, value]) => value !== undefined)
}

function translateProperties(value: unknown, path: string): Record<string, StructuralSchema> {
  const properties: Record<string, StructuralSchema> = {}
  for (const [name, child] of Object.entries(asSchema(value, path))) {
    const childPath = `${path}.${name}`
    const translated = translate(asSchema(child, childPath), childPath)
    if (translated.description === undefined) {
      throw new StructuralSchemaError(childPath, 'has no description; kubectl explain would show nothing')
    }
    properties[name] = translated
  }
  return properties
}

/** `additionalProperties: false` is what a structural schema means anyway and may not say. */
function translateValues(value: unknown, json: Record<string, unknown>, result: StructuralSchema, path: string): void {
  if (value === false) return
  result.additionalProperties = json[preserve] === true ? anyValue : translate(asSchema(value, path), `${path}{}`)
}

/** zod bounds every integer to what a double holds exactly; the API server has int64 and needs no such bounds. */
function dropSafeIntegerBounds(schema: StructuralSchema): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
}

function boundKeys(json: Record<string, unknown>, result: StructuralSchema, path: string): void {
  const maximum = json[keyLengthMarker]
  if (maximum === undefined) return
  if (result.maxProperties === undefined) {
    throw new StructuralSchemaError(path, 'bounded keys need maxProperties, or the cost of their rule is unbounded')
  }
  const rules = (result['x-kubernetes-validations'] ?? []) as unknown[]
  result['x-kubernetes-validations'] = [
    ...rules,
    { rule: `self.all(key, size(key) <= ${maximum})`, message: `a key is longer than ${maximum} characters` },
  ]
}

/** A value of any JSON type has no type; CEL cannot see it, so rules belong on typed fields only. */
function requireType(schema: StructuralSchema, path: string): void {
  if (schema.type !== undefined) return
  if (schema[preserve] === true) return
  throw new StructuralSchemaError(path, 'has no type; use anyJson of fields.ts where any JSON value is meant')
}

function asSchema(value: unknown, path: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw new StructuralSchemaError(path, `expected a schema, found ${JSON.stringify(value)}`)
}
