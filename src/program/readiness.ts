import type { Predecessor, ProgramStep } from '../api/program.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { isTerminal } from './outcomes.ts'
import type { Pass } from './pass.ts'

/** `ready`: all predecessors are settled and one was taken. `skipped`: all are settled and none was. */
export type Readiness = 'waiting' | 'ready' | 'skipped'

/**
 * Whether a step may start. It waits for every control predecessor, runs if any was taken, and is skipped if none was:
 * an untaken arm skips what is reachable through it alone, and a join of skipped paths is skipped.
 */
export function readinessOf(pass: Pass, step: DeepReadonly<ProgramStep>): Readiness {
  const states = step.after.map((predecessor) => stateOf(pass, predecessor))
  if (states.includes('pending')) return 'waiting'
  return states.includes('taken') ? 'ready' : 'skipped'
}

function stateOf(pass: Pass, { id, arm }: DeepReadonly<Predecessor>): 'pending' | 'taken' | 'untaken' {
  const { entry, program } = pass.input
  if (program.entries.some((trigger) => trigger.id === id)) return id === entry ? 'taken' : 'untaken'
  const outcome = pass.outcomes.get(id)
  if (!isTerminal(outcome)) return 'pending'
  return outcome?.kind === 'completed' && (arm === undefined || outcome.arm === arm) ? 'taken' : 'untaken'
}
