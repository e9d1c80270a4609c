import { automation } from '../../api/automation.ts'
import type { AutomationGraph } from '../../api/automation-graph.ts'
import type { PlanContent } from '../../api/automation-graph-plan.ts'
import { apiVersion } from '../../api/kind.ts'
import { labels } from '../../api/labels.ts'
import type { KubeObject } from '../../lib/object.ts'
import { ownedBy } from '../../lib/owner-references.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'

/** The Automation as a plan wants it: owned by the graph, with exactly the fields that a graph manages. */
export function automationFor(
  graph: DeepReadonly<AutomationGraph>,
  content: DeepReadonly<PlanContent>,
  uid?: string,
): KubeObject {
  const { name, namespace = '' } = graph.metadata
  const object = {
    apiVersion,
    kind: automation.kind,
    metadata: {
      name,
      namespace,
      ...(uid !== undefined && { uid }),
      labels: { [labels.graph]: name },
      ownerReferences: [ownedBy(graph)],
    },
    spec: content.automation,
  }
  return object
}
