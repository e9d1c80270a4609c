import type { AutomationFiring } from '../api/automation-firing.ts'
import type { AutomationProgram } from '../api/automation-program.ts'
import type { Run } from '../api/run.ts'
import type { Session } from '../api/session.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { firingHead, isSettled, type ProgramReceipt, programReceipt } from './receipt.ts'
import { orderOf } from './step-order.ts'

/** The records of one firing, joined and not invented. */
export interface Trace {
  readonly firing: DeepReadonly<AutomationFiring>
  readonly program: DeepReadonly<AutomationProgram> | undefined
  readonly sessions: readonly DeepReadonly<Session>[]
  readonly runs: readonly DeepReadonly<Run>[]
}

export function receiptOf({ firing, program }: Trace): ProgramReceipt {
  return programReceipt({ firing, order: orderOf(program) })
}

/** What is not there of what should be. Empty: the evidence is complete. */
export function missingEvidence(trace: Trace): string[] {
  const { firing, program, sessions, runs } = trace
  const { admission } = firing.status ?? {}
  const missing: string[] = []
  if (!isSettled(firing)) missing.push('the firing has not settled')
  if (admission?.program !== undefined && program === undefined)
    missing.push(`the program ${admission.program.name} is gone`)
  for (const { id, session } of receiptOf(trace).steps) {
    if (session === undefined) continue
    if (!sessions.some(({ metadata }) => metadata.name === session))
      missing.push(`the Session ${session} of ${id} is gone`)
    else if (!runs.some(({ spec }) => spec.session.name === session))
      missing.push(`no Run of the Session ${session} is left`)
  }
  return missing
}

/** A trace as data. */
export function traceData(trace: Trace): object {
  const { firing, sessions, runs } = trace
  const { state, result, steps } = receiptOf(trace)
  const missing = missingEvidence(trace)
  return {
    ...firingHead(firing),
    admission: firing.status?.admission ?? null,
    steps: { state, result, outcomes: steps },
    sessions: sessions.map(({ metadata, spec, status }) => ({
      name: metadata.name,
      step: spec.step,
      attempt: spec.attempt,
      agentVersion: spec.agentVersion.name,
      phase: status?.phase ?? null,
      reason: status?.reason ?? null,
    })),
    runs: runs.map(({ metadata, spec, status }) => ({
      name: metadata.name,
      session: spec.session.name,
      step: spec.step,
      phase: status?.phase ?? null,
      reason: status?.reason ?? null,
      message: status?.message ?? null,
      cause: status?.cause ?? null,
      exitCode: status?.exitCode ?? null,
      incarnation: status?.incarnation ?? null,
      output: status?.output ?? null,
    })),
    evidence: { complete: missing.length === 0, missing },
  }
}
