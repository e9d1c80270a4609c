import type { AutomationGraphPlan } from '../../api/automation-graph-plan.ts'
import { isFinished } from './plan-choice.ts'

/**
 * Takes out of a plan, in place, what is for people and for `undo` alone, who ask the API server: its document, beside which
 * stands what applying it does. Of a finished plan, as most of them are, no controller reads the status but its phase, nor
 * who approved it and what people had to provide.
 */
export function trimPlan(plan: AutomationGraphPlan): void {
  plan.spec.content.document = {}
  if (!isFinished(plan)) return
  plan.spec = { content: { ...plan.spec.content, requiredInputs: [] } }
  plan.status = { phase: plan.status?.phase }
}
