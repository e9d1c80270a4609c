import type { Automation } from '../../api/automation.ts'
import { type AutomationFiring, automationFiring } from '../../api/automation-firing.ts'
import { keyOf } from '../../lib/object.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'
import type { ReconcileContext } from '../../runtime/controller.ts'
import type { Reader } from '../../runtime/result.ts'
import { firingsByAutomation } from '../automation-firing/index-by-automation.ts'

type Firing = DeepReadonly<AutomationFiring>

/** Cached firings of this very Automation: by name, and by UID where they give one. */
export function cachedFiringsOf({ metadata }: DeepReadonly<Automation>, read: Reader): readonly Firing[] {
  return read
    .byIndex(automationFiring, firingsByAutomation.name, keyOf(metadata))
    .filter(({ spec: { automation } }) => automation.uid === undefined || automation.uid === metadata.uid)
}

/**
 * All firings of this very Automation. Each kind has a watch of its own, so that one which another manager made and listed
 * a moment ago may not be cached yet: what is listed and not cached is asked for live. To take it for gone would free its
 * place, and end it unstarted.
 */
export async function firingsOf(
  automation: DeepReadonly<Automation>,
  { read, live, signal }: ReconcileContext,
): Promise<readonly Firing[]> {
  const { metadata, status } = automation
  const cached = cachedFiringsOf(automation, read)
  const known = new Set(cached.map(({ metadata: { uid } }) => uid))
  const unseen = [...(status?.active ?? []), ...(status?.pending ?? [])].filter(({ uid }) => !known.has(uid))
  const { namespace = '' } = metadata
  const found = await Promise.all(
    unseen.map(async ({ name, uid }) => {
      const firing = await live.find(automationFiring, { name, namespace }, { signal })
      return firing?.metadata.uid === uid ? [firing] : []
    }),
  )
  return [...cached, ...found.flat()]
}
