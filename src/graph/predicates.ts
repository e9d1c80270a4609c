import type { GraphNode, Predicate } from '../api/graph-document.ts'
import { isPointer, parsePointer } from '../lib/pointer.ts'
import { type Draft, edgesTo, nodesOf } from './draft.ts'
import type { Findings } from './findings.ts'

/** Checks what each decision reads and compares. */
export function checkDecisions(draft: Draft, findings: Findings): void {
  for (const node of nodesOf(draft, 'decision')) {
    checkSubject(node, draft, findings)
    if (node.condition !== undefined) checkCondition(node, node.condition, findings)
  }
}

function checkSubject(node: GraphNode, draft: Draft, findings: Findings): void {
  const outputs = edgesTo(draft, node.id, 'output')
  const bound = hasBindings(node)
  if (!bound && outputs.length === 0) {
    findings.error(
      'document_invalid',
      `decision ${node.id} has nothing to decide about: bind values by inputBindings, or lead an edge output to it`,
      { node: node.id },
    )
  }
  for (const edge of bound ? outputs : []) {
    findings.warn(
      'output_unused',
      `decision ${node.id} reads its inputBindings and not the edge output from ${edge.from}: remove one of the two`,
      { node: node.id, edge },
    )
  }
}

function hasBindings(node: GraphNode): boolean {
  return Object.keys(node.inputBindings ?? {}).length > 0
}

function checkCondition(node: GraphNode, condition: NonNullable<GraphNode['condition']>, findings: Findings): void {
  if (condition.failure !== undefined && condition.failure !== 'fail_closed') {
    findings.error(
      'decision_fail_open',
      `failure of decision ${node.id} is ${condition.failure}: an evaluation that fails never permits anything, write fail_closed`,
      { node: node.id },
    )
  }
  if (condition.kind !== 'predicates') {
    findings.error(
      'document_invalid',
      `decision ${node.id} has a condition of kind ${condition.kind}, which this release does not run; it runs predicates`,
      { node: node.id },
    )
    return
  }
  for (const field of Object.keys(condition)) {
    if (field === 'kind' || field === 'predicates' || (field === 'failure' && condition.failure !== 'fail_closed'))
      continue
    invalid(node, `${field} does not belong to a condition of kind predicates: remove it`, findings)
  }
  if (condition.predicates === undefined || condition.predicates.length === 0) {
    invalid(node, `decision ${node.id} has no predicates: add at least one`, findings)
  }
  for (const predicate of condition.predicates ?? []) checkPredicate(node, predicate as Predicate, findings)
}

function invalid(node: GraphNode, detail: string, findings: Findings): void {
  findings.error('document_invalid', detail, { node: node.id })
}

const ownFields: Record<Predicate['kind'], readonly string[]> = {
  equals: ['pointer', 'value'],
  contains: ['pointer', 'value'],
  all: ['predicates'],
  any: ['predicates'],
  not: ['predicate'],
}

function checkPredicate(node: GraphNode, predicate: Predicate, findings: Findings): void {
  for (const field of Object.keys(predicate)) {
    if (field === 'kind' || ownFields[predicate.kind].includes(field)) continue
    invalid(node, `${field} does not belong to a predicate of kind ${predicate.kind}: remove it`, findings)
  }
  switch (predicate.kind) {
    case 'equals':
    case 'contains':
      checkPointer(node, predicate, findings)
      checkValue(node, predicate, findings)
      return
    case 'all':
    case 'any':
      if (predicate.predicates === undefined || predicate.predicates.length === 0) {
        invalid(
          node,
          `a predicate of kind ${predicate.kind} needs predicates; groups stand two levels deep at most`,
          findings,
        )
      }
      for (const child of predicate.predicates ?? []) checkPredicate(node, child, findings)
      return
    case 'not':
      if (predicate.predicate === undefined) {
        invalid(node, 'a predicate of kind not needs predicate; groups stand two levels deep at most', findings)
      } else checkPredicate(node, predicate.predicate, findings)
  }
}

function checkValue(node: GraphNode, { kind, value }: Predicate, findings: Findings): void {
  if (kind === 'contains') {
    if (typeof value !== 'string') invalid(node, 'contains needs a text as its value: put it in quotes', findings)
    return
  }
  const whole = typeof value === 'number' && Number.isInteger(value)
  if (typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && !whole)) return
  if (whole && Number.isSafeInteger(value)) return
  const problem = whole
    ? 'equals cannot compare an integer beyond 2^53 exactly: compare it as a text'
    : 'equals needs a text, true, false or a finite number as its value; null is none'
  invalid(node, problem, findings)
}

/** A pointer is read in the object of the bound inputs, or without them in the output that is decided about. */
function checkPointer(node: GraphNode, { kind, pointer }: Predicate, findings: Findings): void {
  if (pointer === undefined || !isPointer(pointer)) {
    invalid(node, `${kind} needs a pointer that is empty or begins with /, for example /severity`, findings)
    return
  }
  if (!hasBindings(node)) return
  const [input] = parsePointer(pointer)
  if (input === undefined) {
    invalid(
      node,
      `${kind} reads all inputs at once: name one in its pointer, for example /${firstInput(node)}`,
      findings,
    )
  } else if (!Object.hasOwn(node.inputBindings ?? {}, input)) {
    findings.error(
      'binding_unknown',
      `${kind} reads ${pointer}, but decision ${node.id} has no input ${input}: bind it, or read /${firstInput(node)}`,
      { node: node.id },
    )
  }
}

function firstInput(node: GraphNode): string {
  return Object.keys(node.inputBindings ?? {})[0] ?? ''
}
