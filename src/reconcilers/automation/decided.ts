import type { Automation } from '../../api/automation.ts'
import type { AutomationFiring } from '../../api/automation-firing.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'

/**
 * True where nothing will make or start this firing again, though its name were free: the Automation does not list it,
 * and if its schedule made it, its occurrence has been decided.
 */
export function isDecided(firing: DeepReadonly<AutomationFiring>, automation: DeepReadonly<Automation>): boolean {
  const { active = [], pending = [] } = automation.status ?? {}
  if ([...active, ...pending].some(({ uid }) => uid === firing.metadata.uid)) return false
  const { trigger, occurrence } = firing.spec
  if (trigger !== 'schedule' || occurrence === undefined) return true
  const { watermark, once } = automation.status?.schedule ?? {}
  const kind = automation.spec.triggers.find(({ kind }) => kind === 'schedule' || kind === 'schedule_once')?.kind
  switch (kind) {
    case 'schedule':
      return watermark !== undefined && Date.parse(occurrence) <= Date.parse(watermark)
    case 'schedule_once':
      // Only a date that is still to come can be due, and another date than the one on record has passed.
      return once !== undefined && !(once.phase === 'Pending' && Date.parse(once.at) === Date.parse(occurrence))
    default:
      return true
  }
}
