import type { ErrorObject, Options, ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { linearPattern } from './linear-pattern.ts'
import { shorten } from './text.ts'

/** Why a schema of a user cannot be used. */
export type SchemaProblem = 'schema_invalid' | 'schema_unsupported'

/** The schema cannot be used, whatever the value. The message says what to change. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError'
  readonly code: SchemaProblem

  constructor(code: SchemaProblem, message: string) {
    super(message)
    this.code = code
  }
}

/** The first way in which a value breaks the schema, without quoting the value; undefined when it satisfies it. */
export type CheckValue = (value: unknown) => string | undefined

/**
 * Prepares a JSON Schema of a user, draft 2020-12. Unknown keywords are refused, as a misspelled one would check
 * nothing; `format` is an annotation; references stay inside the schema. Patterns must be such that RE2 knows.
 * Throws {@link SchemaError}. Both preparing and checking can take long: anything but a schema of our own belongs in a
 * worker with a limit.
 */
export function prepareSchema(schema: { readonly [keyword: string]: unknown }): CheckValue {
  const validate = compile(schema)
  return (value) => {
    if (validate(value)) return undefined
    const [first] = validate.errors ?? []
    return first === undefined ? 'does not satisfy the schema' : describe(first)
  }
}

const options: Options = {
  strict: true,
  strictTypes: false,
  strictTuples: false,
  strictRequired: false,
  allowMatchingProperties: true,
  validateFormats: false,
  logger: false,
  code: { regExp: Object.assign(linearRegExp, { code: 'linearRegExp' }) },
}

function compile(schema: object): ValidateFunction {
  try {
    // An instance of its own: the $id of one schema means nothing to another.
    return new Ajv2020(options).compile(schema)
  } catch (error) {
    if (error instanceof SchemaError) throw error
    const message = error instanceof Error ? error.message : 'cannot be compiled'
    const isForeign = error instanceof Error && ('missingRef' in error || message.startsWith('no schema with key'))
    throw new SchemaError(isForeign ? 'schema_unsupported' : 'schema_invalid', message)
  }
}

/** What ajv calls instead of `new RegExp`. It tells patterns apart by their `toString`. */
function linearRegExp(pattern: string): { test(text: string): boolean; toString(): string } {
  const compiled = linearPattern(pattern)
  if (compiled === undefined) {
    const reason = 'is not in RE2 syntax (no look-around, no back-references), or too large'
    const message = `pattern ${JSON.stringify(shorten(pattern, 100))} ${reason}`
    throw new SchemaError('schema_unsupported', message)
  }
  return { test: (text) => compiled.test(text), toString: () => pattern }
}

function describe({ instancePath, keyword, message, params }: ErrorObject): string {
  const where = instancePath === '' ? 'the value' : `the value at ${instancePath}`
  if (keyword === 'additionalProperties') {
    return `${where} must not have the property ${JSON.stringify(params.additionalProperty)}`
  }
  if (keyword === 'enum') return `${where} must be one of ${JSON.stringify(params.allowedValues)}`
  if (keyword === 'const') return `${where} must be ${JSON.stringify(params.allowedValue)}`
  return `${where} ${message ?? `breaks ${keyword}`}`
}
