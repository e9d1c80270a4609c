/** Nesting and number of values of a document; more is no document of 128 KiB (an alias bomb, a cycle). */
const maxDepth = 64
const maxValues = 200_000

export type PlainResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: string }

/**
 * A copy of the document as plain JSON, in which null members are absent: plain `kubectl apply` strips them, so null
 * must not carry meaning. Only a JSON Schema keeps its nulls, to be refused there by name.
 */
export function toPlain(document: unknown): PlainResult {
  try {
    const budget = { values: maxValues }
    return { ok: true, value: copy(document, 0, budget, false) }
  } catch (error) {
    if (error instanceof NotPlain) return { ok: false, error: error.message }
    return { ok: false, error: 'the document cannot be read as JSON' }
  }
}

class NotPlain extends Error {}

function copy(value: unknown, depth: number, budget: { values: number }, keepNull: boolean): unknown {
  budget.values -= 1
  if (depth > maxDepth) throw new NotPlain(`the document is nested deeper than ${maxDepth} levels; make it flatter`)
  if (budget.values < 0) throw new NotPlain('the document holds too many values; split the graph')
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return value
    throw new NotPlain('the document holds a number that is not finite; use a number that JSON can carry')
  }
  if (Array.isArray(value)) return value.map((child) => copy(child, depth + 1, budget, keepNull))
  if (typeof value === 'object') return copyObject(value, depth, budget, keepNull)
  throw new NotPlain(`the document holds a ${typeof value}, which JSON cannot carry`)
}

function copyObject(value: object, depth: number, budget: { values: number }, keepNull: boolean): unknown {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) {
    throw new NotPlain('the document holds a value that JSON cannot carry; put dates and times in quotes')
  }
  const members: [string, unknown][] = []
  for (const [key, child] of Object.entries(value)) {
    if (key === '__proto__') throw new NotPlain('the document has a field named __proto__; give it another name')
    if (child === undefined || (child === null && !keepNull)) continue
    members.push([key, copy(child, depth + 1, budget, keepNull || key === 'outputSchema')])
  }
  return Object.fromEntries(members)
}
