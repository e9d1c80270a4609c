import type { Automation } from '../../api/automation.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'

/** What an Automation is at, as the metrics call it: its state, and who paused it. */
const situations = ['active', 'not_ready', 'paused_by_hand', 'paused_by_failures'] as const
type Situation = (typeof situations)[number]

/** How many Automations are in each situation; those that were not looked at yet are in none. */
export function censusOf(automations: readonly DeepReadonly<Automation>[]): ReadonlyMap<Situation, number> {
  const counts = new Map<Situation, number>(situations.map((situation) => [situation, 0]))
  for (const automation of automations) {
    const situation = situationOf(automation)
    if (situation !== undefined) counts.set(situation, (counts.get(situation) ?? 0) + 1)
  }
  return counts
}

/** A person's pause is told before the Automation's own. */
function situationOf({ spec, status }: DeepReadonly<Automation>): Situation | undefined {
  switch (status?.state) {
    case 'Active':
      return 'active'
    case 'NotReady':
      return 'not_ready'
    case 'Paused':
      return spec.paused === true ? 'paused_by_hand' : 'paused_by_failures'
    case undefined:
      return undefined
  }
}
