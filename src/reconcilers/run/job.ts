import type { AgentVersion } from '../../api/agent.ts'
import type { EnvironmentSpec } from '../../api/environment.ts'
import { labels, managedByValue, networkLabel } from '../../api/labels.ts'
import type { Run } from '../../api/run.ts'
import type { Session } from '../../api/session.ts'
import { type Job, jobType } from '../../kube/core-types.ts'
import { digestJson } from '../../lib/digest.ts'
import { childName } from '../../lib/names.ts'
import { namespaceOf } from '../../lib/object.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'
import { contentDigestAnnotation } from '../../runtime/ownership.ts'
import type { JobSettings } from './job-settings.ts'
import { podSpecFor } from './pod-spec.ts'

export interface JobInput {
  readonly run: DeepReadonly<Run>
  readonly session: DeepReadonly<Session>
  readonly agentVersion: DeepReadonly<AgentVersion>
  /** Number of the incarnation, starting at 0. */
  readonly incarnation: number
  /** Seconds the pod may take, from the Job's start; see {@link deadlineSeconds}. */
  readonly deadlineSeconds: number
  readonly settings: JobSettings
}

/**
 * The Job of one incarnation of a Run: one pod, once. No retries and no pod failure policy inside the Job, because a
 * pod that Kubernetes makes anew would be an incarnation that nobody recorded. It is the same Job by Run and incarnation:
 * that of another release has another image, and with a new CA the gateway's certificate changes.
 */
export function jobFor(input: JobInput): Job {
  const { run, session, settings } = input
  const environment = session.spec.environment.spec
  const labelsOfRun = runLabels(run, session)
  return {
    apiVersion: jobType.apiVersion,
    kind: jobType.kind,
    metadata: {
      name: jobName(run, session, input.incarnation),
      ...namespaceOf(run.metadata),
      labels: labelsOfRun,
      annotations: {
        [contentDigestAnnotation]: digestJson({ run: run.metadata.uid, incarnation: input.incarnation }),
      },
    },
    spec: {
      backoffLimit: 0,
      completions: 1,
      parallelism: 1,
      activeDeadlineSeconds: input.deadlineSeconds,
      ttlSecondsAfterFinished: settings.jobRetentionSeconds,
      template: {
        metadata: {
          labels: { ...environment.podLabels, ...labelsOfRun, [networkLabel]: environment.network },
          ...(environment.podAnnotations && { annotations: { ...environment.podAnnotations } }),
        },
        spec: podSpecFor(environment, input.agentVersion.spec, settings),
      },
    },
  }
}

/** Name of the Job of one incarnation. Pods add six characters to it and stay below 63. */
export function jobName(run: DeepReadonly<Run>, session: DeepReadonly<Session>, incarnation: number): string {
  const { item, attempt } = session.spec
  return childName(run.spec.firing.uid, run.spec.step, item, attempt, run.spec.sequence, incarnation)
}

/** Seconds that a pod of this session may take: what the environment allows, or less if the step asks for it. */
export function deadlineSeconds({ spec }: DeepReadonly<Session>): number {
  const allowed = spec.environment.spec.deadlineSeconds
  return Math.min(allowed, spec.timeoutSeconds ?? allowed)
}

/** Labels by which people find a Job and its pod. Nothing else of the Run's metadata is handed down. */
function runLabels(run: DeepReadonly<Run>, session: DeepReadonly<Session>): Record<string, string> {
  const inherited: Record<string, string> = {}
  for (const label of [labels.graph, labels.automation, labels.agent]) {
    const value = run.metadata.labels?.[label]
    if (value !== undefined) inherited[label] = value
  }
  return {
    ...inherited,
    [labels.managedBy]: managedByValue,
    [labels.firing]: run.spec.firing.name,
    [labels.session]: session.metadata.name,
    [labels.run]: run.metadata.name,
    [labels.step]: run.spec.step,
  }
}

/** Why pods of this environment cannot be made, in words for people; undefined where nothing speaks against it. */
export function environmentProblem(environment: DeepReadonly<EnvironmentSpec>): string | undefined {
  const reserved = Object.keys(environment.podLabels ?? {}).filter(isReservedLabel)
  if (reserved.length === 0) return undefined
  return `podLabels may not set ${reserved.join(', ')}: the operator and the Job controller use these. Choose other names`
}

function isReservedLabel(label: string): boolean {
  if (label === 'job-name' || label === 'controller-uid') return true
  const prefix = label.includes('/') ? label.slice(0, label.indexOf('/')) : ''
  return prefix === 'graphwright.dev' || prefix.endsWith('.graphwright.dev') || prefix === 'batch.kubernetes.io'
}
