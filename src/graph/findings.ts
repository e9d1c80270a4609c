import type { GraphError } from '../api/automation-graph.ts'
import type { GraphEdge } from '../api/graph-document.ts'
import { shorten } from '../lib/text.ts'

/** Codes of what the compiler refuses. They are stable: scripts read them. */
export const graphErrorCodes = [
  'document_invalid',
  'node_id_duplicate',
  'node_unknown',
  'edge_duplicate',
  'edge_endpoint_kind',
  'graph_cycle',
  'node_unreachable',
  'trigger_missing',
  'trigger_conflict',
  'trigger_invalid',
  'schedule_once_not_future',
  'decision_arm_missing',
  'decision_arm_unexpected',
  'decision_fail_open',
  'merge_ambiguous',
  'binding_unknown',
  'binding_not_dominated',
  'result_not_dominated',
  'schema_invalid',
  'schema_unsupported',
  'budget_unsupported',
  'retry_unsupported',
  'session_target_unsupported',
  'limit_exceeded',
] as const
export type GraphErrorCode = (typeof graphErrorCodes)[number]

/** Codes of what the compiler accepts but advises against. */
export const graphWarningCodes = [
  'template_unknown',
  'include_event_unused',
  'output_unused',
  'pointer_undeclared',
  'format_unchecked',
] as const
export type GraphWarningCode = (typeof graphWarningCodes)[number]

/** What a finding is about. */
export interface Where {
  readonly node?: string | undefined
  readonly edge?: Pick<GraphEdge, 'kind' | 'from' | 'to'> | undefined
}

/** Collects everything that is found, so that all errors come at once. */
export class Findings {
  readonly errors: GraphError[] = []
  readonly warnings: GraphError[] = []

  error(code: GraphErrorCode, detail: string, where: Where = {}): void {
    this.errors.push(finding(code, detail, where))
  }

  warn(code: GraphWarningCode, detail: string, where: Where = {}): void {
    this.warnings.push(finding(code, detail, where))
  }
}

/** Findings are kept in a status, whose lengths are bounded. */
function finding(code: string, detail: string, where: Where): GraphError {
  const found: GraphError = { code, detail: shorten(detail, 1024) }
  if (where.node !== undefined) found.node = shorten(where.node, 63)
  if (where.edge !== undefined) found.edge = shorten(edgeText(where.edge), 256)
  return found
}

/** An edge in words: `then triage -> parse`; an arm that finishes has no target. */
export function edgeText(edge: Pick<GraphEdge, 'kind' | 'from' | 'to'>): string {
  return edge.to === undefined ? `${edge.kind} ${edge.from}` : `${edge.kind} ${edge.from} -> ${edge.to}`
}
