import type { AutomationSpec } from '../api/automation.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import type { ManagedSpec } from './managed-spec.ts'

/** Paths of the managed fields in which the live Automation differs from what was applied. */
export declare function drift(applied: DeepReadonly<ManagedSpec>, live: DeepReadonly<AutomationSpec>): string[]
