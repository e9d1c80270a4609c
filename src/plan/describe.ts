import type { Disposition, PlanContent } from '../api/automation-graph-plan.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { shorten } from '../lib/text.ts'

/** Length that a status keeps. */
const maxLength = 256

const verbs: Record<Exclude<Disposition['action'], 'Unchanged'>, string> = {
  Create: 'create',
  Update: 'update',
  Delete: 'delete',
  Conflict: 'conflict with',
}

/**
 * What applying a plan does, in words: `create Automation x`, `update Automation x: target, triggers`, `no changes`.
 * Programs are left out: they come and go with the target that names them.
 */
export function describeChanges(content: DeepReadonly<Pick<PlanContent, 'dispositions'>>): string {
  const changes = content.dispositions
    .filter(({ kind }) => kind !== 'AutomationProgram')
    .flatMap((disposition) => describeOne(disposition) ?? [])
  return changes.length === 0 ? 'no changes' : shorten(changes.join('; '), maxLength)
}

function describeOne({ action, kind, name, fields }: DeepReadonly<Disposition>): string | undefined {
  if (action === 'Unchanged') return undefined
  const topLevel = new Set((fields ?? []).map((path) => path.split(/[.[]/)[0]))
  const where = topLevel.size === 0 ? '' : `: ${[...topLevel].join(', ')}`
  return `${verbs[action]} ${kind} ${name}${where}`
}
