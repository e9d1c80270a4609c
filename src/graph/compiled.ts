import type { AgentTarget, AutomationTrigger } from '../api/automation.ts'
import type { GraphError } from '../api/automation-graph.ts'
import type { GraphDocument } from '../api/graph-document.ts'
import type { Program } from '../api/program.ts'
import type { Digest } from '../lib/digest.ts'

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
