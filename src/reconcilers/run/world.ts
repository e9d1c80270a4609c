import type { AgentVersion } from '../../api/agent.ts'
import type { Incarnation, Run } from '../../api/run.ts'
import type { Session } from '../../api/session.ts'
import type { Job, Pod } from '../../kube/core-types.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'
import { jobName } from './job.ts'

/** What a Run depends on, as the caches show it. */
export interface RunWorld {
  readonly run: DeepReadonly<Run>
  readonly session: DeepReadonly<Session>
  /** The version that the Session froze; undefined where it is gone. */
  readonly agentVersion: DeepReadonly<AgentVersion> | undefined
  /** Jobs that the Run controls. */
  readonly jobs: readonly DeepReadonly<Job>[]
  /** Pods that say they are controlled by the Job of the current incarnation. */
  readonly pods: readonly DeepReadonly<Pod>[]
  /** What the Job controller said when it was not allowed to make the pod. */
  readonly refusal: string | undefined
  readonly now: Date
}

/** The incarnation on record, else the first. */
export function incarnationOf({ run, session }: Pick<RunWorld, 'run' | 'session'>): DeepReadonly<Incarnation> {
  return run.status?.incarnation ?? { number: 0, job: jobName(run, session, 0) }
}

/** The Job of the incarnation: once its UID is on record, that very one. */
export function jobOf(
  jobs: readonly DeepReadonly<Job>[],
  { job, jobUID }: DeepReadonly<Incarnation>,
): DeepReadonly<Job> | undefined {
  return jobs.find(({ metadata }) => metadata.name === job && (jobUID === undefined || metadata.uid === jobUID))
}
