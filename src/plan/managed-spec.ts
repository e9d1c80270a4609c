import type { AutomationSpec } from '../api/automation.ts'
import type { PlanContent } from '../api/automation-graph-plan.ts'
import { type Policies, policiesOf } from '../api/automation-policies.ts'
import { type AutomationProgramSpec, programDigest } from '../api/automation-program.ts'
import { formatVersion, type Pin } from '../api/program.ts'
import type { CompiledGraph } from '../graph/compiled.ts'
import { programName } from '../lib/names.ts'
import type { DeepReadonly } from '../lib/readonly.ts'

/**
 * The spec of an Automation as its graph says it. `paused` is people's and never a part of it; a policy that the
 * graph does not set is absent, and the graph's all the same: it has its default.
 */
export type ManagedSpec = Pick<AutomationSpec, 'triggers' | 'target' | 'environment' | 'serviceAccountName'> & Policies

/** What a plan makes of the Automation. The kind leaves it open, so that plans of any release can be read. */
export function plannedSpec({ automation }: DeepReadonly<PlanContent>): DeepReadonly<ManagedSpec> {
  return automation as DeepReadonly<ManagedSpec>
}

export interface NamedProgram {
  readonly name: string
  readonly spec: AutomationProgramSpec
}

/** The program of a graph bound to published versions, or undefined where the graph is one agent. */
export function programFor(graph: string, compiled: CompiledGraph, pins: readonly Pin[]): NamedProgram | undefined {
  if (compiled.target.kind === 'agent') return undefined
  const { program } = compiled.target
  const content = { formatVersion, program, pins: [...pins] }
  const digest = programDigest(content)
  return { name: programName(graph, digest), spec: { graph, digest, ...content } }
}

/**
 * The fields of its Automation that the graph manages.
 * @param program of {@link programFor}
 */
export function managedSpec(
  compiled: CompiledGraph,
  pins: readonly Pin[],
  program: NamedProgram | undefined,
): ManagedSpec {
  return {
    triggers: compiled.triggers,
    target: target(compiled, pins, program),
    environment: compiled.document.environment,
    serviceAccountName: compiled.document.serviceAccountName,
    ...policiesOf(compiled.document),
  }
}

function target(
  compiled: CompiledGraph,
  pins: readonly Pin[],
  program: NamedProgram | undefined,
): ManagedSpec['target'] {
  if (program !== undefined) return { program: { name: program.name, digest: program.spec.digest } }
  if (compiled.target.kind !== 'agent') return {}
  const { agent } = compiled.target
  const version = pins.find((pin) => pin.agent === agent.name)?.version
  return { agent: version === undefined ? agent : { ...agent, version } }
}
