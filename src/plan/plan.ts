import type { Disposition, PlanContent } from '../api/automation-graph-plan.ts'
import type { Pin } from '../api/program.ts'
import type { CompiledGraph } from '../graph/compiled.ts'
import { type Digest, digestJson } from '../lib/digest.ts'
import { beginningOf } from '../lib/text.ts'
import { agentOf, blockersOf, isConflict, requiredInputsOf } from './blockers.ts'
import { drift, managedFieldsOf } from './drift.ts'
import { type ManagedSpec, managedSpec, programFor } from './managed-spec.ts'
import type { PlanWorld } from './world.ts'

/** What applying the compiled graph to this world would do. The Automation has the graph's name. */
export function planGraph(compiled: CompiledGraph, world: PlanWorld): PlanContent {
  const { graph, revision } = world
  const pins = pinsOf(compiled, world)
  const program = programFor(graph.name, compiled, pins)
  const automation = managedSpec(compiled, pins, program)
  const content: PlanContent = {
    graph: graph.name,
    graphUID: graph.uid,
    revision,
    document: { ...compiled.document },
    automation: { ...automation },
    dispositions: dispositionsOf(automation, world),
    pins,
    blockers: blockersOf(compiled, world),
    requiredInputs: requiredInputsOf(compiled, world),
    digest: planDigest(compiled, world),
  }
  if (program !== undefined) content.program = { name: program.name, digest: program.spec.digest }
  return content
}

/** The published versions that a graph is bound to, as far as its Agents have any. */
function pinsOf(compiled: CompiledGraph, world: PlanWorld): Pin[] {
  return compiled.agents.flatMap((agent) => {
    const version = agentOf(world, agent)?.latestVersion
    return version === undefined ? [] : [{ agent, version: version.name, digest: version.digest, uid: version.uid }]
  })
}

function dispositionsOf(automation: ManagedSpec, world: PlanWorld): Disposition[] {
  const live = world.automation?.spec
  const program = automation.target.program
  const dispositions: Disposition[] = []
  if (program !== undefined) {
    const isLive = !isConflict(world) && live?.target.program?.digest === program.digest
    dispositions.push({ kind: 'AutomationProgram', name: program.name, action: isLive ? 'Unchanged' : 'Create' })
  }
  return [...dispositions, automationDisposition(automation, world)]
}

function automationDisposition(automation: ManagedSpec, world: PlanWorld): Disposition {
  const disposition = { kind: 'Automation', name: world.graph.name }
  if (world.automation === undefined) return { ...disposition, action: 'Create' }
  if (isConflict(world)) return { ...disposition, action: 'Conflict' }
  const fields = drift(automation, world.automation.spec)
  if (fields.length === 0) return { ...disposition, action: 'Unchanged' }
  return { ...disposition, action: 'Update', fields: fields.slice(0, 100).map((path) => beginningOf(path, 256)) }
}

/**
 * Digest of everything the plan depends on and nothing else: the normalised document, the plan applied last, what is
 * referenced and the managed fields of what would be changed. Never a resourceVersion, a status, `paused` or a time.
 * The manager computes it again before it applies: a plan whose world moved has another digest and is stale.
 */
export function planDigest(compiled: CompiledGraph, world: PlanWorld): Digest {
  const { document, agents } = compiled
  const { automation } = world
  return digestJson({
    document,
    applied: world.appliedPlanDigest ?? null,
    references: [
      { kind: 'Environment', name: document.environment, uid: world.environment?.uid ?? null },
      { kind: 'ServiceAccount', name: document.serviceAccountName, uid: world.serviceAccount?.uid ?? null },
      ...agents.map((name) => {
        const agent = agentOf(world, name)
        const version = agent?.latestVersion
        return {
          kind: 'Agent',
          name,
          uid: agent?.uid ?? null,
          published: version?.digest ?? null,
          version: version?.uid ?? null,
        }
      }),
    ],
    targets: [
      {
        kind: 'Automation',
        name: world.graph.name,
        uid: automation?.uid ?? null,
        owner: automation?.controllerUid ?? null,
        fields: automation === undefined ? null : managedFieldsOf(automation.spec),
      },
    ],
  })
}
