import type { GraphNode, NodeKind } from '../api/graph-document.ts'
import { type Draft, edgesTo } from './draft.ts'
import type { Findings, GraphErrorCode } from './findings.ts'

type Field = keyof GraphNode

const everyNode: readonly Field[] = ['id', 'kind', 'name', 'description']

interface FieldRule {
  readonly required: readonly Field[]
  readonly optional: readonly Field[]
}

/** Which fields belong to a node of which kind. */
const rules: Partial<Record<NodeKind, FieldRule>> = {
  trigger: { required: ['trigger'], optional: [] },
  agent: { required: ['agent'], optional: ['prompt', 'includeEvent', 'timeoutSeconds'] },
  step_agent: { required: ['agent'], optional: ['prompt', 'includeEvent', 'inputBindings', 'timeoutSeconds'] },
  step_parse_json: { required: ['outputSchema'], optional: ['inputBindings'] },
  decision: { required: ['condition'], optional: ['inputBindings'] },
}

/** Fields of the language that a later release runs, refused by a code of their own on the nodes they belong to. */
const unsupported: Partial<Record<Field, { readonly code: GraphErrorCode; readonly instead: string }>> = {
  budget: { code: 'budget_unsupported', instead: 'remove it; limit the step with timeoutSeconds' },
  retries: { code: 'retry_unsupported', instead: 'remove it; a failed firing can be fired again' },
  sessionTarget: { code: 'session_target_unsupported', instead: 'remove it; each step starts a Session of its own' },
  forEach: { code: 'document_invalid', instead: 'remove it; give the whole list to one step' },
  deliveryScreen: { code: 'document_invalid', instead: 'remove it' },
}

/** Reports fields that are missing from a node, foreign to its kind or not run by this release. */
export function checkNodeFields(draft: Draft, findings: Findings): void {
  for (const { node } of draft.nodes.values()) {
    const rule = node === undefined ? undefined : rules[node.kind]
    if (node === undefined || rule === undefined) continue
    for (const field of rule.required) {
      if (node[field] === undefined) missing(node, field, findings)
    }
    if (node.kind === 'step_agent') checkPrompt(node, draft, findings)
    const known: readonly Field[] = [...everyNode, ...rule.required, ...rule.optional]
    for (const field of Object.keys(node) as Field[]) {
      if (!known.includes(field)) reportForeign(node, field, findings)
    }
  }
}

function checkPrompt(node: GraphNode, draft: Draft, findings: Findings): void {
  const hasMessage = edgesTo(draft, node.id, 'output').length > 0
  if (node.prompt === undefined && !hasMessage) {
    findings.error(
      'document_invalid',
      `node ${node.id} of kind step_agent needs the field prompt, or an edge output that leads to it`,
      { node: node.id },
    )
  }
  if (node.includeEvent === true && hasMessage) {
    findings.warn(
      'include_event_unused',
      `includeEvent of ${node.id} has no effect: its output edge gives it its whole message; remove the edge or includeEvent`,
      { node: node.id },
    )
  }
}

function missing(node: GraphNode, field: Field, findings: Findings): void {
  findings.error('document_invalid', `node ${node.id} of kind ${node.kind} needs the field ${field}`, { node: node.id })
}

function reportForeign(node: GraphNode, field: Field, findings: Findings): void {
  const later = unsupported[field]
  if (later !== undefined && (node.kind === 'agent' || node.kind === 'step_agent')) {
    findings.error(later.code, `${field} of node ${node.id} is not run by this release: ${later.instead}`, {
      node: node.id,
    })
    return
  }
  const hint = node.kind === 'agent' && field === 'inputBindings' ? ': make it a step_agent' : ': remove it'
  findings.error('document_invalid', `${field} does not belong to node ${node.id} of kind ${node.kind}${hint}`, {
    node: node.id,
  })
}
