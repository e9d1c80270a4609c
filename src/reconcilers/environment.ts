import type { Environment, EnvironmentStatus } from '../api/environment.ts'
import { labels, managedByValue } from '../api/labels.ts'
import { type Job, jobType } from '../kube/core-types.ts'
import { isForbidden } from '../kube/error.ts'
import { namespaceOf } from '../lib/object.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { type ConditionInput, conditionOf, setCondition } from '../runtime/conditions.ts'
import type { Reconcile, ReconcileContext } from '../runtime/controller.ts'
import { refusalOf } from '../runtime/refusals.ts'
import { Terminal, Wait } from '../runtime/result.ts'
import { workspaceObjects } from './environment/workspace.ts'
import { environmentProblem } from './run/job.ts'
import type { JobSettings } from './run/job-settings.ts'
import { podSpecFor } from './run/pod-spec.ts'

export interface EnvironmentOptions {
  /** Namespace that the operator is installed in: where the pods' gateway is. */
  readonly operatorNamespace: string
  readonly settings: JobSettings
}

/** The API server says no. It may be asked again: policies and permissions change without waking anybody. */
const refused = 'PodRefused'
const againMillis = 30_000

type Verdict = Omit<ConditionInput, 'type'>

/** Keeps the workspace of an Environment, and says whether pods can be made of it. */
export function environmentReconciler(options: EnvironmentOptions): Reconcile<Environment, EnvironmentStatus> {
  return async (environment, context) => {
    const { namespace = 'default', generation = 0 } = environment.metadata
    const ready: ConditionInput = { type: 'Ready', ...(await verdictOn(environment, options.settings, context)) }
    return {
      apply: workspaceObjects(namespace, options.operatorNamespace),
      status: { conditions: setCondition(environment.status?.conditions, ready, generation, context.now) },
      ...(ready.reason === refused && { after: againMillis }),
    }
  }
}

/** A verdict on this generation is kept: what the API server admits does not change by itself. */
async function verdictOn(
  environment: DeepReadonly<Environment>,
  settings: JobSettings,
  context: ReconcileContext,
): Promise<Verdict> {
  const problem = environmentProblem(environment.spec)
  if (problem !== undefined) return { status: 'False', reason: 'Invalid', message: problem }
  const known = conditionOf(environment.status?.conditions, 'Ready')
  const { status, reason, message, observedGeneration } = known ?? {}
  const isKept = status === 'True' && observedGeneration === environment.metadata.generation
  return isKept && reason && message ? { status, reason, message } : await rehearse(environment, settings, context)
}

const usable: Verdict = { status: 'True', reason: 'Usable', message: 'Pods can be made of it' }

/** Lets the API server check a Job like those that runs will have, without making it. */
async function rehearse(
  environment: DeepReadonly<Environment>,
  settings: JobSettings,
  { live, signal }: ReconcileContext,
): Promise<Verdict> {
  const job = sampleJob(environment, settings)
  try {
    await live.create(job, { dryRun: true, signal })
    return usable
  } catch (error) {
    const refusal = refusalOf(error, job)
    // A full quota has no room for a Job that is right otherwise.
    if (refusal instanceof Wait) return usable
    if (refusal instanceof Terminal || isForbidden(refusal)) {
      return { status: 'False', reason: refused, message: `No pod can be made of it. ${refusal.message}` }
    }
    throw error
  }
}

function sampleJob({ metadata, spec }: DeepReadonly<Environment>, settings: JobSettings): Job {
  const anyAgent = { agent: 'sample', version: 1, digest: '', runtime: { container: {} }, repeatSafe: false }
  const withImage = { ...spec, image: spec.image ?? 'sample' }
  return {
    apiVersion: jobType.apiVersion,
    kind: jobType.kind,
    metadata: {
      name: 'graphwright-sample',
      ...namespaceOf(metadata),
      labels: { [labels.managedBy]: managedByValue },
    },
    spec: {
      template: {
        metadata: {
          ...(spec.podLabels && { labels: { ...spec.podLabels } }),
          ...(spec.podAnnotations && { annotations: { ...spec.podAnnotations } }),
        },
        spec: podSpecFor(withImage, anyAgent, settings),
      },
    },
  }
}
