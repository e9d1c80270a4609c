import type { CustomResourceDefinition } from '../../src/api/crd.ts'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'

/**
 * What a definition asks of objects that the one before it did not: every object that was accepted must be accepted, and
 * read back whole. Pure; what is only wider is no difference.
 */
export function narrowings(before: CustomResourceDefinition, after: CustomResourceDefinition): string[] {
  const { spec } = after
  return [
    ...changed('scope', before.spec.scope, spec.scope),
    ...changed('kind', before.spec.names.kind, spec.names.kind),
    ...changed('plural', before.spec.names.plural, spec.names.plural),
    ...(before.spec.names.shortNames ?? [])
      .filter((name) => spec.names.shortNames?.includes(name) !== true)
      .map((name) => `short name ${name} is gone`),
    ...before.spec.versions.flatMap((version) => {
      const found = spec.versions.find(({ name }) => name === version.name)
      if (found === undefined) return [`version ${version.name} is gone`]
      return [
        ...changed(`${version.name} served`, version.served, found.served),
        ...changed(`${version.name} storage`, version.storage, found.storage),
        ...schemaNarrowings(version.schema.openAPIV3Schema, found.schema.openAPIV3Schema, ''),
      ]
    }),
  ]
}

const lowerBounds = ['minLength', 'minItems', 'minProperties', 'minimum']
const upperBounds = ['maxLength', 'maxItems', 'maxProperties', 'maximum']
/** What must stay as it is: which values are taken, what the server fills in, and who owns which part. */
const fixed = [
  'type',
  'pattern',
  'format',
  'default',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
]
const preserve = 'x-kubernetes-preserve-unknown-fields'

function schemaNarrowings(before: StructuralSchema, after: StructuralSchema, path: string): string[] {
  const at = path === '' ? '.' : path
  return [
    ...fixed.flatMap((keyword) => changed(`${at} ${keyword}`, before[keyword], after[keyword])),
    ...lowerBounds.flatMap((keyword) => raised(at, keyword, before[keyword], after[keyword], 1)),
    ...upperBounds.flatMap((keyword) => raised(at, keyword, before[keyword], after[keyword], -1)),
    ...(before.nullable === true && after.nullable !== true ? [`${at} is not nullable any more`] : []),
    ...(before[preserve] === true && after[preserve] !== true ? [`${at} does not keep unknown fields any more`] : []),
    ...enumNarrowings(before, after, at),
    ...(after.required ?? [])
      .filter((name) => before.required?.includes(name) !== true)
      .map((name) => `${at} requires ${name} now`),
    ...ruleNarrowings(before, after, at),
    ...memberNarrowings(before, after, path),
  ]
}

function enumNarrowings(before: StructuralSchema, after: StructuralSchema, at: string): string[] {
  const [old, now] = [before.enum, after.enum] as (unknown[] | undefined)[]
  if (now === undefined) return []
  if (old === undefined) return [`${at} is an enum now`]
  return old.filter((value) => !now.includes(value)).map((value) => `${at} does not take ${value} any more`)
}

function ruleNarrowings(before: StructuralSchema, after: StructuralSchema, at: string): string[] {
  const rulesOf = (schema: StructuralSchema) =>
    ((schema['x-kubernetes-validations'] ?? []) as { rule: string }[]).map(({ rule }) => rule)
  const known = new Set(rulesOf(before))
  return rulesOf(after)
    .filter((rule) => !known.has(rule))
    .map((rule) => `${at} has a new rule: ${rule}`)
}

function memberNarrowings(before: StructuralSchema, after: StructuralSchema, path: string): string[] {
  const keepsAny = after.additionalProperties !== undefined || after[preserve] === true
  const properties = Object.entries(before.properties ?? {}).flatMap(([name, schema]) => {
    const found = after.properties?.[name]
    if (found !== undefined) return schemaNarrowings(schema, found, `${path}.${name}`)
    return keepsAny ? [] : [`${path}.${name} is gone`]
  })
  return [
    ...properties,
    ...below(before, after, 'additionalProperties', `${path}{}`),
    ...below(before, after, 'items', `${path}[]`),
  ]
}

function below(
  before: StructuralSchema,
  after: StructuralSchema,
  keyword: 'items' | 'additionalProperties',
  path: string,
) {
  const [old, now] = [before[keyword], after[keyword]]
  if (old === undefined) return []
  return now === undefined ? [`${path} is gone`] : schemaNarrowings(old, now, path)
}

function changed(what: string, before: unknown, after: unknown): string[] {
  const [old, now] = [before, after].map((value) => JSON.stringify(value) ?? 'nothing')
  return old === now ? [] : [`${what} was ${old} and is ${now}`]
}

/** @param sign 1 where a larger number takes less, -1 where a smaller one does */
function raised(at: string, keyword: string, before: unknown, after: unknown, sign: 1 | -1): string[] {
  if (after === undefined) return []
  const isNarrower = before === undefined || sign * (after as number) > sign * (before as number)
  return isNarrower ? [`${at} ${keyword} was ${before ?? 'nothing'} and is ${after}`] : []
}
