import type { PlanContent } from '../api/automation-graph-plan.ts'
import type { CompiledGraph } from '../graph/compile.ts'
import type { PlanWorld } from './world.ts'

/** What applying the compiled graph to this world would do. */
export declare function planGraph(compiled: CompiledGraph, world: PlanWorld): PlanContent
