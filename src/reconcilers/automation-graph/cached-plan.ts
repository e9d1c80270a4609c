import type { AutomationGraphPlan } from '../../api/automation-graph-plan.ts'
import { isFinished } from './plan-choice.ts'

/**
 * Takes out of a plan, in place, what is for people and for `undo` alone: its document, beside which stands what applying it
 * does, and of a finished plan, as most of them are, who approved it and what became of it.
 */
export function trimPlan(plan: AutomationGraphPlan): void {
  const { content } = plan.spec
  if (!isFinished(plan)) {
    content.document = {}
    return
  }
  plan.spec = { content: { ...content, document: {}, requiredInputs: [] } }
  plan.status = { phase: plan.status?.phase }
}
