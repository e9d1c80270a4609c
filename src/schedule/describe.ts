import type { AutomationTrigger } from '../api/automation.ts'
import type { DeepReadonly } from '../lib/readonly.ts'

/** A trigger in words, for people: `0 9 * * 1-5 (Europe/Berlin)`, `once at 2026-12-01T17:00:00.000Z`, `manual`. */
export function describeTrigger(trigger: DeepReadonly<AutomationTrigger>): string {
  switch (trigger.kind) {
    case 'schedule':
      return `${trigger.cron} (${trigger.timezone})`
    case 'schedule_once':
      return `once at ${trigger.at}`
    case 'webhook':
    case 'subscription':
    case 'manual':
      return trigger.kind
  }
}

/** The triggers of an Automation in words. */
export function describeTriggers(triggers: DeepReadonly<AutomationTrigger[]>): string {
  return triggers.map(describeTrigger).join(', ')
}
