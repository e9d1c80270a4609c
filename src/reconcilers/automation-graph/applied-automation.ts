import { type Automation, automation } from '../../api/automation.ts'
import type { AutomationGraph } from '../../api/automation-graph.ts'
import type { PlanContent } from '../../api/automation-graph-plan.ts'
import { apiVersion } from '../../api/kind.ts'
import { labels } from '../../api/labels.ts'
import { type KubeObject, refOf } from '../../lib/object.ts'
import { ownedBy } from '../../lib/owner-references.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'
import { correction } from '../../plan/drift.ts'
import { plannedSpec } from '../../plan/managed-spec.ts'
import type { Patched } from '../../runtime/result.ts'

/** The Automation as a plan wants it: owned by the graph, with exactly the fields that a graph manages. */
export function automationFor(graph: DeepReadonly<AutomationGraph>, content: DeepReadonly<PlanContent>): KubeObject {
  const { name, namespace = '' } = graph.metadata
  const object = {
    apiVersion,
    kind: automation.kind,
    metadata: {
      name,
      namespace,
      labels: { [labels.graph]: name },
      ownerReferences: [ownedBy(graph)],
    },
    spec: content.automation,
  }
  return object
}

/**
 * What makes the live Automation the one that a plan wants, in one write. It holds for the version that was seen alone: a
 * manager that is late, or has died half-way, puts nothing back that has been decided anew since.
 */
export function correctionOf(live: DeepReadonly<Automation>, content: DeepReadonly<PlanContent>): Patched {
  return {
    ref: refOf(live),
    resourceVersion: live.metadata.resourceVersion ?? '',
    patch: correction(plannedSpec(content), live.spec),
  }
}
