import type { AutomationTrigger } from '../api/automation.ts'
import type { GraphDocument } from '../api/graph-document.ts'
import { digestJson } from '../lib/digest.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { checkBindings } from './bindings.ts'
import type { CompileResult, RejectedGraph } from './compiled.ts'
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
