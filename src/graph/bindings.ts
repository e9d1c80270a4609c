import type { Binding, GraphNode } from '../api/graph-document.ts'
import { isJsonObject } from '../lib/json.ts'
import { isPointer, parsePointer } from '../lib/pointer.ts'
import { type Dominators, dominatorsOf } from './dominance.ts'
import { type Draft, type DraftEdge, edgesTo, nodesOf } from './draft.ts'
import type { Findings } from './findings.ts'
import { limits } from './limits.ts'
import { type Adjacency, adjacency, controlSuccessors, entriesOf, pathAvoiding, reachable } from './topology.ts'

/** Names of inputs become file names in the pod and first tokens of pointers. */
const inputName = /^[A-Za-z][A-Za-z0-9_-]{0,62}$/

interface Flow {
  readonly entries: readonly string[]
  readonly control: Adjacency
  /** Control and data: a value that comes from behind is a cycle, and was reported as one. */
  readonly all: Adjacency
  readonly reached: ReadonlySet<string>
  readonly dominators: Dominators
}

/**
 * Checks that what a node reads exists and is there whenever the node runs: every path from every trigger to the reader
 * passes through the source.
 */
export function checkBindings(draft: Draft, findings: Findings): void {
  const entries = entriesOf(draft)
  const control = controlSuccessors(draft)
  const pairs = draft.edges.flatMap(({ from, to }): [string, string][] => (to === undefined ? [] : [[from, to]]))
  const flow: Flow = {
    entries,
    control,
    all: adjacency([...draft.nodes.keys()], pairs),
    reached: reachable(entries, control),
    dominators: dominatorsOf(entries, control),
  }
  for (const node of nodesOf(draft, 'step_agent', 'step_parse_json', 'decision')) {
    checkInputs(node, draft, flow, findings)
    if (node.kind === 'step_parse_json') checkContent(node, draft, findings)
    if (node.kind === 'decision') checkSubjectPointers(node, draft, findings)
  }
  for (const edge of draft.edges) {
    if (edge.kind === 'output' && edge.to !== undefined) checkOutput({ ...edge, to: edge.to }, flow, findings)
  }
}

function checkInputs(node: GraphNode, draft: Draft, flow: Flow, findings: Findings): void {
  const inputs = Object.entries(node.inputBindings ?? {})
  if (inputs.length > limits.bindings) {
    findings.error(
      'limit_exceeded',
      `${node.id} has ${inputs.length} inputs, at most ${limits.bindings}: bind an object`,
      {
        node: node.id,
      },
    )
  }
  for (const [name, binding] of inputs) {
    if (!inputName.test(name)) {
      findings.error(
        'document_invalid',
        `${JSON.stringify(name)} is no name of an input: begin with a letter, then letters, digits, _ and -`,
        { node: node.id },
      )
    }
    checkSource(node.id, name, binding, draft, flow, findings)
  }
}

function checkSource(
  reader: string,
  name: string,
  binding: Binding,
  draft: Draft,
  flow: Flow,
  findings: Findings,
): void {
  const { sourceNodeId: id, pointer } = binding
  const source = draft.nodes.get(id)
  if (!isPointer(pointer)) {
    findings.error(
      'document_invalid',
      `the pointer ${JSON.stringify(pointer)} of input ${name} is not valid: leave it empty, or begin with /`,
      { node: reader },
    )
    return
  }
  if (source === undefined) {
    findings.error(
      'binding_unknown',
      `input ${name} reads the node ${id}, which does not exist: correct sourceNodeId`,
      {
        node: reader,
      },
    )
    return
  }
  if (source.kind === 'decision' || source.kind === 'agent') {
    const advice = 'read a trigger, a step_agent or a step_parse_json'
    findings.error('binding_unknown', `input ${name} reads ${id}, a ${source.kind}, which has no value: ${advice}`, {
      node: reader,
    })
    return
  }
  if (source.node !== undefined) checkValuePointer(reader, `input ${name}`, source.node, pointer, findings)
  if (!flow.reached.has(reader) || (id !== reader && flow.dominators.dominates(id, reader))) return
  findings.error('binding_not_dominated', `input ${name} reads ${id}, ${avoidance(id, reader, flow)}`, { node: reader })
}

/** A path on which the value is not there. */
function avoidance(source: string, reader: string, flow: Flow): string {
  const path = source === reader ? undefined : pathAvoiding(flow.entries, flow.control, reader, source)
  if (path === undefined) return 'its own value: read a node that runs before it'
  return `which the path ${path.join(' -> ')} does not pass: lead every path through ${source}, or read a node that all paths pass`
}

/** The output of an agent is a text until it is parsed; a schema says what the parsed value has. */
function checkValuePointer(reader: string, what: string, source: GraphNode, pointer: string, findings: Findings): void {
  const tokens = parsePointer(pointer)
  if (source.kind === 'step_agent' && tokens.length > 0) {
    findings.error(
      'binding_unknown',
      `${what} reads ${pointer} in the output of ${source.id}, which is a text: parse it by a step_parse_json and read that`,
      { node: reader },
    )
    return
  }
  const [first] = tokens
  const properties = source.kind === 'step_parse_json' ? source.outputSchema?.properties : undefined
  if (first === undefined || !isJsonObject(properties) || Object.hasOwn(properties, first)) return
  findings.warn(
    'pointer_undeclared',
    `${what} reads ${pointer}, but outputSchema of ${source.id} declares no property ${first}: correct the pointer or declare it`,
    { node: reader },
  )
}

/** A parser reads one text: by its input `content`, or by an output edge. */
function checkContent(node: GraphNode, draft: Draft, findings: Findings): void {
  const inputs = Object.keys(node.inputBindings ?? {})
  for (const name of inputs) {
    if (name === 'content') continue
    findings.error('document_invalid', `${node.id} reads its input content only: remove ${name}`, { node: node.id })
  }
  if (inputs.includes('content') || edgesTo(draft, node.id, 'output').length > 0) return
  findings.error('document_invalid', `${node.id} has nothing to parse: bind inputBindings.content`, { node: node.id })
}

/** Without inputs a decision reads its pointers in the output of the step before it. */
function checkSubjectPointers(node: GraphNode, draft: Draft, findings: Findings): void {
  if (Object.keys(node.inputBindings ?? {}).length > 0) return
  const [edge] = edgesTo(draft, node.id, 'output')
  const source = edge === undefined ? undefined : draft.nodes.get(edge.from)?.node
  if (source === undefined) return
  for (const pointer of new Set(pointersOf(node.condition?.predicates ?? []))) {
    if (isPointer(pointer)) checkValuePointer(node.id, 'a predicate', source, pointer, findings)
  }
}

function pointersOf(predicates: readonly unknown[]): string[] {
  return predicates.flatMap((predicate) => {
    if (!isJsonObject(predicate)) return []
    const own = typeof predicate.pointer === 'string' ? [predicate.pointer] : []
    const group = Array.isArray(predicate.predicates) ? predicate.predicates : []
    return [...own, ...pointersOf(group), ...pointersOf(predicate.predicate === undefined ? [] : [predicate.predicate])]
  })
}

/** An output edge gives no control of its own: its producer runs before the reader on every path. */
function checkOutput(edge: DraftEdge, flow: Flow, findings: Findings): void {
  if (!flow.reached.has(edge.to) || reachable([edge.to], flow.all).has(edge.from)) return
  if (flow.dominators.dominates(edge.from, edge.to)) return
  findings.error(
    'result_not_dominated',
    `${edge.to} reads the output of ${edge.from}, ${avoidance(edge.from, edge.to, flow)}`,
    { edge, node: edge.to },
  )
}
