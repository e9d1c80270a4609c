import type { GraphDocument, GraphEdge, GraphNode } from '../../src/api/graph-document.ts'
import { compile } from '../../src/graph/compile.ts'
import type { CompiledGraph, CompileResult } from '../../src/graph/compiled.ts'

export const now = new Date('2026-11-30T12:00:00Z')

/** A document of the given nodes and edges. */
export function documentOf(nodes: GraphNode[], edges: GraphEdge[] = []): GraphDocument {
  return { environment: 'default', serviceAccountName: 'triage', nodes, edges }
}

export function edge(kind: GraphEdge['kind'], from: string, to?: string): GraphEdge {
  return to === undefined ? { kind, from } : { kind, from, to }
}

export function manual(id = 'by-hand'): GraphNode {
  return { id, kind: 'trigger', trigger: { kind: 'manual' } }
}

export function schedule(id = 'weekday', cron = '0 9 * * 1-5', timezone = 'Europe/Berlin'): GraphNode {
  return { id, kind: 'trigger', trigger: { kind: 'schedule', cron, timezone } }
}

export function agentStep(id: string, fields: Partial<GraphNode> = {}): GraphNode {
  return { id, kind: 'step_agent', agent: id, prompt: 'Do it.', ...fields }
}

export function parseStep(id: string, sourceNodeId: string): GraphNode {
  return {
    id,
    kind: 'step_parse_json',
    inputBindings: { content: { sourceNodeId, pointer: '' } },
    outputSchema: { type: 'object', properties: { escalate: { type: 'boolean' } }, required: ['escalate'] },
  }
}

export function decision(id: string, sourceNodeId: string): GraphNode {
  return {
    id,
    kind: 'decision',
    inputBindings: { escalate: { sourceNodeId, pointer: '/escalate' } },
    condition: { kind: 'predicates', predicates: [{ kind: 'equals', pointer: '/escalate', value: true }] },
  }
}

/** The sample of the README: triage, parse, decide, escalate or finish. */
export function triageAndEscalate(): GraphDocument {
  return documentOf(
    [
      schedule(),
      manual(),
      agentStep('triage', { prompt: 'Triage: {{event.items}}', includeEvent: true }),
      parseStep('parse', 'triage'),
      decision('decide', 'parse'),
      agentStep('escalate', { timeoutSeconds: 600 }),
    ],
    [
      edge('starts', 'weekday', 'triage'),
      edge('starts', 'by-hand', 'triage'),
      edge('then', 'triage', 'parse'),
      edge('then', 'parse', 'decide'),
      edge('continue', 'decide', 'escalate'),
      edge('otherwise', 'decide'),
      edge('output', 'triage', 'escalate'),
    ],
  )
}

/** One agent behind a trigger. */
export function oneAgent(): GraphDocument {
  return documentOf(
    [manual(), { id: 'report', kind: 'agent', agent: 'reporter', prompt: 'Report {{event.day}}.' }],
    [edge('starts', 'by-hand', 'report')],
  )
}

/** The document, changed. */
export function changed(document: GraphDocument, change: (copy: GraphDocument) => void): GraphDocument {
  const copy = structuredClone(document)
  change(copy)
  return copy
}

/** The node of that id. */
export function nodeOf(document: GraphDocument, id: string): GraphNode {
  const node = document.nodes.find((candidate) => candidate.id === id)
  if (node === undefined) throw new Error(`no node ${id}`)
  return node
}

/** Compiles what is expected to compile. */
export function compiled(document: GraphDocument): CompiledGraph {
  const result = compile(document, { now })
  if (result.kind === 'rejected') throw new Error(result.errors.map(({ detail }) => detail).join('\n'))
  return result
}

/** The errors as `code node` or `code edge`, sorted. */
export function codesOf(result: CompileResult): string[] {
  const errors = result.kind === 'rejected' ? result.errors : []
  return errors.map(({ code, node, edge: where }) => [code, where ?? node].filter(Boolean).join(' ')).sort()
}
