import { agentVersion } from '../api/agent.ts'
import { fieldManagers, labels } from '../api/labels.ts'
import { type Run, type RunStatus, run } from '../api/run.ts'
import { session } from '../api/session.ts'
import { jobType, podType } from '../kube/core-types.ts'
import type { KubeObject, ObjectKey } from '../lib/object.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { summarizeRun } from '../reconcilers/run/status.ts'
import { type RunOptions, runReconciler } from '../reconcilers/run.ts'
import { type ControllerSpec, watch, watchOwned } from '../runtime/controller.ts'

/** Selects the pods of runs: cache no others, a cluster has many. */
export const runPodSelector = labels.run

export function runController(options: RunOptions): ControllerSpec<Run, RunStatus> {
  return {
    name: 'run',
    for: run,
    ready: 'Succeeded',
    fieldManager: fieldManagers.manager,
    foreignStatus: ['result', 'usage'],
    reconcile: runReconciler(options),
    summarize: summarizeRun,
    watches: [watchOwned(jobType, run), watch(podType, runOfPod)],
    reads: [session, agentVersion],
    concurrency: 8,
  }
}

/** The label only wakes the run, it proves nothing: the reconciler believes owner references by UID. */
function runOfPod({ metadata }: DeepReadonly<KubeObject>): ObjectKey[] {
  const name = metadata.labels?.[labels.run]
  return name === undefined ? [] : [`${metadata.namespace}/${name}`]
}
