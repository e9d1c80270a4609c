import type { AutomationSpec } from '../api/automation.ts'
import type { AutomationProgramSpec } from '../api/automation-program.ts'
import type { Pin } from '../api/program.ts'
import type { CompiledGraph } from '../graph/compile.ts'

/** The fields of an Automation that a graph manages. `paused` is people's and never among them. */
export type ManagedSpec = Pick<AutomationSpec, 'triggers' | 'target' | 'environment' | 'serviceAccountName'>

/** The program of a graph bound to published versions, or undefined where the graph is one agent. */
export declare function programFor(
  graph: string,
  compiled: CompiledGraph,
  pins: readonly Pin[],
): { readonly name: string; readonly spec: AutomationProgramSpec } | undefined

/** The fields of its Automation that the graph manages. */
export declare function managedSpec(graph: string, compiled: CompiledGraph, pins: readonly Pin[]): ManagedSpec
