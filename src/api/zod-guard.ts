import type { z } from 'zod'

/**
 * What of zod a CRD can say. A schema that checks more offline than the API server checks, or the reverse, would accept
 * a document in one place and refuse it in the other; everything else is therefore refused here, naming the path.
 */

/** Set on records whose keys are bounded: JSON Schema of OpenAPI 3.0 cannot say it, a CEL rule can. */
export const keyLengthMarker = 'x-key-max-length'

const expressibleTypes: ReadonlySet<string> = new Set([
  'object',
  'record',
  'array',
  'string',
  'number',
  'boolean',
  'enum',
  'literal',
  'unknown',
  'optional',
  'nullable',
  'default',
])

const expressibleChecks: ReadonlySet<string> = new Set([
  'min_length',
  'max_length',
  'length_equals',
  'greater_than',
  'less_than',
  'number_format',
  'string_format',
])

/** Thrown for a schema that has no equivalent structural schema. */
export class StructuralSchemaError extends Error {
  constructor(path: string, problem: string) {
    super(`${path}: ${problem}`)
    this.name = 'StructuralSchemaError'
  }
}

interface Visit {
  readonly zodSchema: z.core.$ZodTypes
  readonly jsonSchema: Record<string, unknown>
  readonly path: readonly (string | number)[]
}

/** Override of `z.toJSONSchema` that refuses what would be lost silently, and keeps the bound of a record's keys. */
export function guard(root: string, { zodSchema, jsonSchema, path }: Visit): void {
  const at = readablePath(root, path)
  const definition = zodSchema._zod.def
  if (!expressibleTypes.has(definition.type)) {
    throw new StructuralSchemaError(
      at,
      `zod's ${definition.type} has no structural schema; use plain optional fields and CEL`,
    )
  }
  for (const check of definition.checks ?? []) guardCheck(at, check._zod.def)
  if (definition.type === 'object' && definition.catchall?._zod.def.type !== 'never') {
    throw new StructuralSchemaError(at, 'use z.strictObject, so that offline validation refuses unknown fields too')
  }
  if (definition.type === 'record') keepKeyLength(at, definition.keyType, jsonSchema)
}

function guardCheck(at: string, check: { readonly check: string; readonly pattern?: unknown }): void {
  if (!expressibleChecks.has(check.check)) {
    throw new StructuralSchemaError(
      at,
      `a ${check.check} check is invisible to the API server; write a CEL rule in meta`,
    )
  }
  if (!(check.pattern instanceof RegExp)) return
  const { source, flags } = check.pattern
  if (flags !== '')
    throw new StructuralSchemaError(at, `the flags of /${source}/${flags} would be dropped; write them out`)
  if (/\(\?<?[=!]|\\[1-9]/.test(source)) {
    throw new StructuralSchemaError(at, `/${source}/ looks around or back, which RE2 does not know`)
  }
}

function keepKeyLength(at: string, keyType: z.core.$ZodType, jsonSchema: Record<string, unknown>): void {
  const { type, checks } = keyType._zod.def
  if (type !== 'string') throw new StructuralSchemaError(at, 'keys of a record must be texts')
  for (const check of checks ?? []) {
    const definition: { readonly check: string; readonly maximum?: unknown } = check._zod.def
    if (definition.check !== 'max_length')
      throw new StructuralSchemaError(at, 'keys of a record may have a maximum length only')
    jsonSchema[keyLengthMarker] = definition.maximum
  }
}

/** `spec.nodes[].id` for `properties.nodes.items.properties.id`. */
function readablePath(root: string, path: readonly (string | number)[]): string {
  let text = root
  for (let i = 0; i < path.length; i++) {
    if (path[i] === 'properties') text += `.${path[++i]}`
    else if (path[i] === 'items') text += '[]'
    else if (path[i] === 'additionalProperties') text += '{}'
    else text += `.${path[i]}`
  }
  return text
}
