import type { AutomationTrigger } from '../api/automation.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { parseCron, type Schedule } from '../schedule/cron.ts'
import { normaliseInstant } from '../schedule/instant.ts'

type Trigger = DeepReadonly<AutomationTrigger>

/** What of the triggers goes by the clock. */
export type TriggerSchedule =
  | { readonly kind: 'recurring'; readonly trigger: Trigger; readonly schedule: Schedule }
  | { readonly kind: 'once'; readonly trigger: Trigger; readonly at: Date }
  /** It cannot be read; the text says why. */
  | { readonly kind: 'invalid'; readonly trigger: Trigger; readonly error: string }
  | { readonly kind: 'none' }

/** The one schedule among the triggers of an Automation; there is at most one. */
export function scheduleOf(triggers: readonly Trigger[]): TriggerSchedule {
  const trigger = triggers.find(({ kind }) => kind === 'schedule' || kind === 'schedule_once')
  if (trigger === undefined) return { kind: 'none' }
  if (trigger.kind === 'schedule') {
    const parsed = parseCron(trigger.cron ?? '', trigger.timezone ?? '')
    return parsed.ok
      ? { kind: 'recurring', trigger, schedule: parsed.schedule }
      : { kind: 'invalid', trigger, error: parsed.error }
  }
  const at = normaliseInstant(trigger.at ?? '')
  if (at === undefined) return { kind: 'invalid', trigger, error: `at ${trigger.at ?? ''} is no date and time` }
  return { kind: 'once', trigger, at: new Date(at) }
}

/** The zone that times are shown in beside UTC. A date is kept in UTC alone. */
export function zoneOf(schedule: TriggerSchedule): string {
  return schedule.kind === 'recurring' ? schedule.schedule.timezone : 'UTC'
}
