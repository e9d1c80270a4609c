import type { Automation } from '../../api/automation.ts'
import { automationFiring } from '../../api/automation-firing.ts'
import { labels } from '../../api/labels.ts'
import { firingName } from '../../lib/names.ts'
import type { KubeObject } from '../../lib/object.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'
import type { Count } from '../../runtime/result.ts'

/** The firing of one occurrence of a schedule. Its name is the lock: there is one for each occurrence, ever. */
export function scheduledFiring(
  automation: DeepReadonly<Automation>,
  entry: string,
  occurrence: Date,
  requester: string,
): KubeObject {
  const { name, namespace = '', uid = '' } = automation.metadata
  const instant = occurrence.toISOString()
  const graph = automation.metadata.labels?.[labels.graph]
  const firing = {
    apiVersion: automationFiring.apiVersion,
    kind: automationFiring.kind,
    metadata: {
      name: firingName({ name, uid }, 'schedule', instant, stampOf(instant)),
      namespace,
      labels: { [labels.automation]: name, ...(graph !== undefined && { [labels.graph]: graph }) },
    },
    spec: {
      automation: { name, uid },
      trigger: 'schedule',
      entry,
      occurrence: instant,
      event: { occurrence: instant },
      requestedBy: requester,
    },
  }
  return firing
}

/** What the metrics are told of a firing that is made at `now` and was to be made at `startAt`. */
export function startCount(startAt: Date, now: Date): Count {
  return { metric: 'occurrenceStarted', delaySeconds: Math.max(0, now.getTime() - startAt.getTime()) / 1000 }
}

/** `2026-11-30T12:00:00.000Z` as `20261130t120000z`: what people read in the name. */
function stampOf(instant: string): string {
  return instant.replace(/\.\d+/, '').replaceAll(/[-:]/g, '').toLowerCase()
}
