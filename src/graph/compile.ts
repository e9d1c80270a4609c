import type { AgentTarget, AutomationTrigger } from '../api/automation.ts'
import type { GraphError } from '../api/automation-graph.ts'
import type { GraphDocument } from '../api/graph-document.ts'
import type { Program } from '../api/program.ts'
import { type Digest, digestJson } from '../lib/digest.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { checkBindings } from './bindings.ts'
import { checkEdges } from './edges.ts'
import { Findings } from './findings.ts'
import { type BesideDocument, checkBeside, checkLimits } from './limits.ts'
import { lowerTarget, referencedAgents } from './lower.ts'
import { checkNodeFields } from './node-fields.ts'
import { toPlain } from './plain.ts'
import { checkDecisions } from './predicates.ts'
import { checkPrompts } from './prompts.ts'
import { checkSchemas } from './schema.ts'
import { readShape } from './shape.ts'
import { checkTopology } from './topology.ts'
import { checkTriggers, lowerTriggers } from './triggers.ts'

/** What compiling depends on beside the document. */
export interface CompileOptions {
  readonly now: Date
  /** Triggers of the Automation as applied: an `at` that is already applied may lie in the past. */
  readonly appliedTriggers?: DeepReadonly<AutomationTrigger[]>
  readonly beside?: BesideDocument
}

/** A document that compiles, in the parts that a plan is made of. */
export interface CompiledGraph {
  readonly kind: 'compiled'
  /** Normalised: defaults filled, null and absent the same, nodes and edges in one order. */
  readonly document: GraphDocument
  /** Digest of the normalised document. */
  readonly documentDigest: Digest
  readonly triggers: AutomationTrigger[]
  readonly target: CompiledTarget
  /** Names of the Agents it references, each once. */
  readonly agents: string[]
  readonly warnings: GraphError[]
}

/** A graph is either one agent behind its triggers or a program of steps. */
export type CompiledTarget =
  | { readonly kind: 'agent'; readonly agent: AgentTarget }
  | { readonly kind: 'program'; readonly program: Program }

/** A document that does not compile, with everything that is wrong with it. */
export interface RejectedGraph {
  readonly kind: 'rejected'
  readonly errors: GraphError[]
  readonly warnings: GraphError[]
}

export type CompileResult = CompiledGraph | RejectedGraph

/**
 * Compiles a graph document. Never throws, whatever it is given: it may come from a file that no API server has checked.
 * All errors come at once; a document with errors runs nothing.
 */
export function compile(document: DeepReadonly<GraphDocument>, options: CompileOptions): CompileResult {
  const findings = new Findings()
  checkBeside(options.beside ?? {}, findings)
  const plain = toPlain(document)
  if (!plain.ok) {
    findings.error('document_invalid', plain.error)
    return rejected(findings)
  }
  const draft = readShape(plain.value, findings)
  if (draft === undefined) return rejected(findings)
  const isSmall = checkLimits(plain.value, findings)
  checkNodeFields(draft, findings)
  checkTriggers(draft, options, findings)
  checkEdges(draft, findings)
  if (isSmall) {
    checkTopology(draft, findings)
    checkBindings(draft, findings)
  }
  checkDecisions(draft, findings)
  checkSchemas(draft, findings)
  checkPrompts(draft, findings)
  if (findings.errors.length > 0) return rejected(findings)
  return {
    kind: 'compiled',
    document: draft.document,
    documentDigest: digestJson(draft.document),
    triggers: lowerTriggers(draft.document.nodes),
    target: lowerTarget(draft),
    agents: referencedAgents(draft),
    warnings: findings.warnings,
  }
}

function rejected({ errors, warnings }: Findings): RejectedGraph {
  return { kind: 'rejected', errors, warnings }
}
