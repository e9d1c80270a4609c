import type { GraphError } from '../api/automation-graph.ts'
import type { PlanContent } from '../api/automation-graph-plan.ts'
import type { CompiledGraph, CompileResult } from '../graph/compiled.ts'
import type { GraphInFile } from './graph-file.ts'

/** What planning one graph of the file gave. */
export type PlanResult =
  | {
      readonly kind: 'planned'
      readonly graph: string
      readonly compiled: CompiledGraph
      readonly content?: PlanContent
      /** True where nobody approves it: `applyPolicy: Automatic`. */
      readonly isAutomatic?: boolean
      /** Kind and name of what is missing in the cluster, and is applied together with the graph. */
      readonly brought?: readonly string[]
    }
  | {
      readonly kind: 'rejected'
      readonly graph: string
      readonly errors: readonly GraphError[]
      readonly warnings: readonly GraphError[]
    }

/** A result of the compiler beside what is wrong around the document. */
export function resultOf(graph: GraphInFile, result: CompileResult): PlanResult {
  if (result.kind === 'compiled' && graph.errors.length === 0) {
    return { kind: 'planned', graph: graph.name, compiled: result, isAutomatic: graph.isAutomatic === true }
  }
  const errors = [...graph.errors, ...(result.kind === 'rejected' ? result.errors : [])]
  return { kind: 'rejected', graph: graph.name, errors, warnings: result.warnings }
}
