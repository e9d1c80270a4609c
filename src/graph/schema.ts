import { isJsonObject, type JsonObject } from '../lib/json.ts'
import { patternLimit, patternSize } from '../lib/linear-pattern.ts'
import { parsePointer, resolveTokens } from '../lib/pointer.ts'
import { type Draft, nodesOf } from './draft.ts'
import type { Findings } from './findings.ts'
import { isSchema, type Keyword, keywords, patternsOf } from './schema-keywords.ts'

/** A schema of a user is compiled to code: these bounds keep that fast. */
const maxDepth = 16
const maxSchemas = 500
const maxBytes = 32 * 1024
/** All patterns of a document together, with their repetitions written out: each of them is prepared by the compiler. */
const maxPatterns = 10_000

/** Checks the schemas of a graph by their structure; nothing of a user's is compiled or run here. */
export function checkSchemas(draft: Draft, findings: Findings): void {
  const patterns = { size: 0 }
  for (const { id, outputSchema } of nodesOf(draft, 'step_parse_json')) {
    if (outputSchema !== undefined) checkSchema(id, outputSchema as JsonObject, patterns, findings)
  }
}

interface Walk {
  readonly node: string
  readonly root: JsonObject
  readonly findings: Findings
  /** Of all schemas of the document so far. */
  readonly patterns: { size: number }
  schemas: number
}

function checkSchema(node: string, root: JsonObject, patterns: { size: number }, findings: Findings): void {
  const bytes = Buffer.byteLength(JSON.stringify(root))
  if (bytes > maxBytes) {
    findings.error('schema_invalid', `outputSchema has ${bytes} bytes, at most ${maxBytes}: simplify it`, { node })
    return
  }
  const walk: Walk = { node, root, findings, patterns, schemas: 0 }
  visit(root, '#', 0, walk)
  const loop = endlessReference(root)
  if (loop !== undefined) report(walk, 'schema_invalid', loop, 'leads back to itself without going into the value')
}

type Code = 'schema_invalid' | 'schema_unsupported'

function report(walk: Walk, code: Code, place: string, problem: string): void {
  walk.findings.error(code, `outputSchema at ${place} ${problem}`, { node: walk.node })
}

function visit(schema: unknown, place: string, depth: number, walk: Walk): void {
  if (!isJsonObject(schema)) return
  walk.schemas += 1
  if (walk.schemas === maxSchemas + 1)
    report(walk, 'schema_invalid', '#', `has more than ${maxSchemas} schemas: simplify it`)
  if (walk.schemas > maxSchemas) return
  if (depth > maxDepth) {
    report(walk, 'schema_invalid', place, `is nested deeper than ${maxDepth} levels: flatten it`)
    return
  }
  for (const [name, value] of Object.entries(schema)) {
    const at = `${place}/${name}`
    const keyword = keywords.get(name)
    if (keyword === undefined) {
      report(walk, 'schema_unsupported', at, 'is no keyword that is checked here: remove it or correct its name')
      continue
    }
    if (!isAffordable(patternsOf(name, value), at, walk)) return
    const problem = keyword.check(value)
    if (problem === undefined) visitKeyword(name, keyword, value, at, depth, walk)
    else report(walk, codeOf(name, problem), at, problem)
  }
  checkTogether(schema, place, walk)
}

/** False, said once, where the patterns of the document are too large together. */
function isAffordable(found: readonly string[], at: string, walk: Walk): boolean {
  const before = walk.patterns.size
  // One that is too large by itself is refused without being prepared, and says so.
  for (const size of found.map(patternSize)) if (size <= patternLimit) walk.patterns.size += size
  if (walk.patterns.size <= maxPatterns) return true
  const problem = `and the patterns before it are too large together with their repetitions written out, at most ${maxPatterns} characters: bound lengths by maxLength`
  if (before <= maxPatterns) report(walk, 'schema_invalid', at, problem)
  return false
}

/** What is right as JSON Schema but cannot be checked here is unsupported, the rest is invalid. */
function codeOf(name: string, problem: string): Code {
  const beyond = name === '$schema' || problem.includes('RE2') || (name === 'items' && problem.endsWith('schema'))
  return beyond ? 'schema_unsupported' : 'schema_invalid'
}

function visitKeyword(name: string, keyword: Keyword, value: unknown, at: string, depth: number, walk: Walk): void {
  if (name === '$ref') checkReference(String(value), at, walk)
  if (name === 'format') {
    walk.findings.warn('format_unchecked', `outputSchema at ${at} is not checked: use pattern where it matters`, {
      node: walk.node,
    })
  }
  if (name === 'const' || name === 'enum') checkNull(value, at, walk)
  for (const [key, child] of childrenOf(keyword, value)) {
    if (!isSchema(child)) report(walk, 'schema_invalid', `${at}/${key}`, 'must be a schema')
    else visit(child, key === '' ? at : `${at}/${key}`, depth + 1, walk)
  }
}

/** The schemas in the value of a keyword, by their place in it. */
function childrenOf(keyword: Keyword, value: unknown): [string, unknown][] {
  if (keyword.holds === 'schema') return [['', value]]
  if (keyword.holds === 'list' && Array.isArray(value)) return value.map((child, index) => [String(index), child])
  return keyword.holds === 'map' && isJsonObject(value) ? Object.entries(value) : []
}

/** Plain `kubectl apply` strips null members, and a schema without its `const` accepts everything. */
function checkNull(value: unknown, at: string, walk: Walk): void {
  if (value !== null && !(Array.isArray(value) && value.includes(null))) return
  report(walk, 'schema_unsupported', at, 'has a null, which kubectl does not keep: write type: "null"')
}

/** A condition without a consequence, or the reverse, would be ignored. */
function checkTogether(schema: JsonObject, place: string, walk: Walk): void {
  const { if: condition, then, else: otherwise } = schema
  if ((condition === undefined) !== (then === undefined && otherwise === undefined)) {
    report(walk, 'schema_invalid', place, 'needs if together with then or else')
  }
}

function checkReference(reference: string, at: string, walk: Walk): void {
  if (!reference.startsWith('#')) {
    report(walk, 'schema_unsupported', at, 'refers to another document, which is never fetched: copy it into $defs')
  } else if (!isSchema(resolveReference(walk.root, reference))) {
    report(walk, 'schema_invalid', at, `refers to ${reference}, where there is no schema`)
  }
}

function resolveReference(root: JsonObject, reference: string): unknown {
  try {
    return resolveTokens(root, parsePointer(decodeURIComponent(reference.slice(1))))
  } catch {
    return undefined
  }
}

/** A reference that comes back to itself without going deeper into the value would be followed for ever. */
function endlessReference(root: JsonObject): string | undefined {
  const finished = new Set<unknown>()
  function follow(schema: unknown, open: readonly unknown[]): string | undefined {
    if (!isJsonObject(schema) || finished.has(schema)) return undefined
    if (open.includes(schema)) return typeof schema.$ref === 'string' ? schema.$ref : '#'
    for (const [name, value] of Object.entries(schema)) {
      const keyword = keywords.get(name)
      const next =
        name === '$ref' && typeof value === 'string'
          ? [resolveReference(root, value)]
          : keyword?.inPlace === true
            ? childrenOf(keyword, value).map(([, child]) => child)
            : []
      for (const child of next) {
        const loop = follow(child, [...open, schema])
        if (loop !== undefined) return loop
      }
    }
    finished.add(schema)
    return undefined
  }
  return allSchemas(root)
    .map((schema) => follow(schema, []))
    .find((loop) => loop !== undefined)
}

/** The schema and every schema inside it. */
function allSchemas(root: JsonObject): JsonObject[] {
  const found = [root]
  for (const schema of found) {
    for (const [name, value] of Object.entries(schema)) {
      const keyword = keywords.get(name)
      if (keyword !== undefined)
        found.push(
          ...childrenOf(keyword, value)
            .map(([, child]) => child)
            .filter(isJsonObject),
        )
    }
  }
  return found
}
