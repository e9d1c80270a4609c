import type { PlanContent } from '../api/automation-graph-plan.ts'
import type { DeepReadonly } from '../lib/readonly.ts'

/** What applying a plan does, in words: `create Automation x`, `no changes`. */
export declare function describeChanges(content: DeepReadonly<Pick<PlanContent, 'dispositions'>>): string
