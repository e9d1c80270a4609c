import { type Automation, automation } from '../../api/automation.ts'
import type { AutomationGraphPlan } from '../../api/automation-graph-plan.ts'
import { managersOfSpec } from '../../lib/managed-fields.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'
import { drift } from '../../plan/drift.ts'
import { plannedSpec } from '../../plan/managed-spec.ts'
import type { ReconcileContext } from '../../runtime/controller.ts'

type Plan = DeepReadonly<AutomationGraphPlan>
type Owned = DeepReadonly<Automation>

/** A field of the Automation that differs from what was applied. */
export interface DriftedField {
  /** Such as `triggers[weekday].cron`. */
  readonly path: string
  /** Field managers that wrote it; empty where the API server does not know any more. */
  readonly writtenBy: readonly string[]
}

/**
 * In which fields the Automation differs from the plan that was applied last, and who wrote them. A plan that is about to
 * be applied, or has just been and is not recorded yet, differs from that as well: what it asks for is no drift.
 * @param applying the plan that is being applied at this moment
 */
export async function driftedFields(
  applied: Plan,
  live: Owned,
  applying: Plan | undefined,
  context: ReconcileContext,
): Promise<DriftedField[]> {
  const wanted = applying === undefined ? undefined : new Set(drift(plannedSpec(applying.spec.content), live.spec))
  const paths = drift(plannedSpec(applied.spec.content), live.spec).filter((path) => wanted?.has(path) !== false)
  return paths.length === 0 ? [] : withWriters(paths, live, context)
}

/** Caches do not keep who wrote what: it is asked for where it is needed, which is rare. */
async function withWriters(paths: readonly string[], { metadata }: Owned, { live, signal }: ReconcileContext) {
  const { name, namespace = '' } = metadata
  const found = await live.find(automation, { name, namespace }, { signal })
  return paths.map((path) => {
    const members = path.split(/[.[]/)
    return { path, writtenBy: managersOfSpec(found?.metadata.managedFields ?? [], members) }
  })
}

/** `environment, serviceAccountName (written by kubectl-edit); target.program.name (written by curl)` */
export function describeDrift(fields: readonly DriftedField[]): string {
  const byWriters = Map.groupBy(fields, ({ writtenBy }) => writtenBy.join(' and '))
  const groups = [...byWriters].map(([writers, members]) => {
    const paths = members.map(({ path }) => path).join(', ')
    return writers === '' ? paths : `${paths} (written by ${writers})`
  })
  return groups.join('; ')
}
