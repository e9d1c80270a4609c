import type { Environment, EnvironmentStatus } from '../api/environment.ts'
import { labels, managedByValue } from '../api/labels.ts'
import { type Job, jobType } from '../kube/core-types.ts'
import { isForbidden, isInvalid, KubeError } from '../kube/error.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { type ConditionInput, conditionOf, setCondition } from '../runtime/conditions.ts'
import type { Reconcile, ReconcileContext } from '../runtime/controller.ts'
import { environmentProblem, type JobSettings } from './job.ts'
import { podSpecFor } from './pod-spec.ts'
import { workspaceObjects } from './workspace.ts'

export interface EnvironmentOptions {
  /** Namespace that the operator is installed in: where the pods' gateway is. */
  readonly operatorNamespace: string
  readonly settings: JobSettings
}

type Verdict = Omit<ConditionInput, 'type'>

/** Keeps the workspace of an Environment, and says whether pods can be made of it. */
export function environmentReconciler(options: EnvironmentOptions): Reconcile<Environment, EnvironmentStatus> {
  return async (environment, context) => {
    const { namespace = 'default', generation = 0 } = environment.metadata
    const ready: ConditionInput = { type: 'Ready', ...(await verdictOn(environment, options.settings, context)) }
    return {
      apply: workspaceObjects(namespace, options.operatorNamespace),
      status: { conditions: setCondition(environment.status?.conditions, ready, generation, context.now) },
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
  try {
    await live.create(sampleJob(environment, settings), { dryRun: true, signal })
    return usable
  } catch (error) {
    if (!isRefusal(error)) throw error
    return { status: 'False', reason: 'PodRefused', message: `No Job can be made of it: ${error.message}` }
  }
}

/** The API server says no, and will say so again: 400 for what it cannot even read, such as a quantity. */
function isRefusal(error: unknown): error is KubeError {
  return isInvalid(error) || isForbidden(error) || (error instanceof KubeError && error.status === 400)
}

function sampleJob({ metadata, spec }: DeepReadonly<Environment>, settings: JobSettings): Job {
  const anyAgent = { agent: 'sample', version: 1, digest: '', runtime: { container: {} }, repeatSafe: false }
  const withImage = { ...spec, image: spec.image ?? 'sample' }
  return {
    apiVersion: jobType.apiVersion,
    kind: jobType.kind,
    metadata: {
      name: 'graphwright-sample',
      ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
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
