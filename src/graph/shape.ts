import {
  edgeKinds,
  type GraphDocument,
  type GraphEdge,
  graphDocument,
  type NodeKind,
  nodeKinds,
} from '../api/graph-document.ts'
import { isJsonObject, type JsonObject } from '../lib/json.ts'
import { compareText } from '../lib/text.ts'
import { normaliseInstant } from '../schedule/instant.ts'
import { type Draft, type DraftNode, runnableKinds } from './draft.ts'
import type { Findings } from './findings.ts'
import { describeIssue, type Issue, isTooLarge } from './issue.ts'

/** Stands for a part that was reported, so that the rest can be read. */
const placeholder = { environment: 'invalid', serviceAccountName: 'invalid' }

/**
 * Reads the parts of a document that have the right shape and reports those that have not. Undefined where there are no
 * nodes to speak of.
 */
export function readShape(plain: unknown, findings: Findings): Draft | undefined {
  const read = graphDocument.safeParse(plain)
  const issues = read.error?.issues ?? []
  for (const issue of issues) reportIssue(issue, plain, findings)
  if (!isJsonObject(plain) || !isListOfObjects(plain.nodes) || !isListOfObjects(plain.edges ?? [])) return undefined
  if (issues.some((issue) => issue.path.length === 1 && (issue.path[0] === 'nodes' || issue.path[0] === 'edges'))) {
    return undefined
  }
  const document = read.data ?? withoutIssues(plain, issues)
  const nodes = draftNodes(plain.nodes, document, findings)
  return { document: normalise(document), nodes, edges: knownEdges(document.edges, nodes, findings) }
}

/** The document that is left without the nodes and edges that have an issue. */
function withoutIssues(plain: JsonObject, issues: readonly Issue[]): GraphDocument {
  const nodes = plain.nodes as JsonObject[]
  const edges = (plain.edges ?? []) as JsonObject[]
  return graphDocument.parse({
    ...(issues.some((issue) => issue.path[0] !== 'nodes' && issue.path[0] !== 'edges') ? placeholder : plain),
    nodes: withPlaceholder(nodes.filter((_, index) => !hasIssue(issues, 'nodes', index))),
    edges: edges.filter((_, index) => !hasIssue(issues, 'edges', index)),
  })
}

function isListOfObjects(value: unknown): value is JsonObject[] {
  return Array.isArray(value) && value.every(isJsonObject)
}

function hasIssue(issues: readonly Issue[], list: string, index: number): boolean {
  return issues.some((issue) => issue.path[0] === list && issue.path[1] === index)
}

/** The schema wants at least one node, also where none is left. */
function withPlaceholder(nodes: JsonObject[]): JsonObject[] {
  return nodes.length > 0 ? nodes : [{ id: 'invalid', kind: 'output' }]
}

function reportIssue(issue: Issue, plain: unknown, findings: Findings): void {
  const [list, index] = issue.path
  const item =
    isJsonObject(plain) && typeof index === 'number' ? (plain[String(list)] as JsonObject[])[index] : undefined
  const code = isTooLarge(issue) ? 'limit_exceeded' : 'document_invalid'
  findings.error(code, describeIssue(issue, plain), {
    node: list === 'nodes' && typeof item?.id === 'string' ? item.id : undefined,
    edge: list === 'edges' ? readableEdge(item) : undefined,
  })
}

function readableEdge(edge: JsonObject | undefined): GraphEdge | undefined {
  if (typeof edge?.from !== 'string') return undefined
  const kind = edgeKinds.find((known) => known === edge.kind)
  if (kind === undefined) return undefined
  return typeof edge.to === 'string' ? { kind, from: edge.from, to: edge.to } : { kind, from: edge.from }
}

function draftNodes(
  listed: readonly JsonObject[],
  document: GraphDocument,
  findings: Findings,
): Map<string, DraftNode> {
  const parsed = new Map(document.nodes.map((node) => [node.id, node]))
  const drafts = new Map<string, DraftNode>()
  for (const { id, kind: written } of listed) {
    if (typeof id !== 'string' || id === '') continue
    if (drafts.has(id)) {
      findings.error('node_id_duplicate', `two nodes have the id ${id}: rename one of them`, { node: id })
      continue
    }
    checkId(id, findings)
    const kind = nodeKinds.find((known) => known === written)
    if (kind !== undefined && !runnableKinds.has(kind)) reportUnsupportedKind(id, kind, findings)
    const node = kind !== undefined && runnableKinds.has(kind) ? parsed.get(id) : undefined
    drafts.set(id, { id, kind, node: node?.kind === kind ? node : undefined })
  }
  return drafts
}

function reportUnsupportedKind(node: string, kind: NodeKind, findings: Findings): void {
  findings.error(
    'document_invalid',
    `node ${node} has the kind ${kind}, which this release does not run; it runs ${[...runnableKinds].join(', ')}`,
    { node },
  )
}

const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/

/** What YAML 1.1, and with it kubectl, reads as a boolean or as nothing instead of as a text. */
const yamlWords: ReadonlySet<string> = new Set(['y', 'n', 'yes', 'no', 'on', 'off', 'true', 'false', 'null'])

function checkId(id: string, findings: Findings): void {
  if (id.length <= 63 && !label.test(id)) {
    findings.error(
      'document_invalid',
      `the node id ${JSON.stringify(id)} is no DNS label: use lower-case letters, digits and dashes, and begin and end with a letter or digit`,
      { node: id },
    )
  }
  if (yamlWords.has(id)) {
    findings.error('document_invalid', `YAML reads the node id ${id} as something other than a text: rename the node`, {
      node: id,
    })
  }
}

function knownEdges(
  edges: readonly GraphEdge[],
  nodes: ReadonlyMap<string, DraftNode>,
  findings: Findings,
): GraphEdge[] {
  return edges.filter((edge) => {
    const unknown = [edge.from, ...(edge.to === undefined ? [] : [edge.to])].filter((id) => !nodes.has(id))
    for (const id of new Set(unknown)) {
      findings.error('node_unknown', `there is no node ${id}: correct the edge or add the node`, { edge })
    }
    return unknown.length === 0
  })
}

/**
 * The one form of a document. The order of nodes and edges carries no meaning, so it is not part of the form: moving a
 * node in a file makes no new revision. An instant is the same instant under every offset.
 */
function normalise(document: GraphDocument): GraphDocument {
  const nodes = document.nodes.map((node) => {
    if (node.trigger?.at === undefined) return node
    return { ...node, trigger: { ...node.trigger, at: normaliseInstant(node.trigger.at) ?? node.trigger.at } }
  })
  return {
    ...document,
    nodes: nodes.sort((a, b) => compareText(a.id, b.id)),
    edges: [...document.edges].sort(
      (a, b) => compareText(a.from, b.from) || compareText(a.kind, b.kind) || compareText(a.to ?? '', b.to ?? ''),
    ),
  }
}
