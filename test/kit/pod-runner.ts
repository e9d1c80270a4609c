import { fieldManagers, labels } from '../../src/api/labels.ts'
import { type Run, run as runType } from '../../src/api/run.ts'
import type { KubeClient } from '../../src/kube/client.ts'
import type { Pod, TokenRequest } from '../../src/kube/core-types.ts'
import { isConflict } from '../../src/kube/error.ts'
import { inlineContent } from './builders.ts'
import { eventually } from './eventually.ts'

/** What the operator's own containers do in a pod that a {@link Kubelet} runs. */
export interface PodRunner {
  /** Returns once the input is there. */
  input(pod: Pod, signal: AbortSignal): Promise<void>
  /** Takes the result away. */
  report(pod: Pod, signal: AbortSignal): Promise<void>
}

/** What a command leaves as its result; undefined: nothing is reported. */
export type OutputOf = (pod: Pod) => string | undefined

/** Does without a gateway: waits until the pod is recorded, and writes the result as the gateway would. */
export function recordingRunner(client: KubeClient, outputOf: OutputOf = () => 'done'): PodRunner {
  return {
    input: async (pod) => {
      await eventually(async () => isRecorded(await runOf(client, pod), pod), { timeout: 20_000 })
    },
    report: async (pod) => {
      const output = outputOf(pod)
      if (output !== undefined) await writeResult(client, pod, output)
    },
  }
}

async function writeResult(client: KubeClient, pod: Pod, output: string): Promise<void> {
  for (;;) {
    const run = await runOf(client, pod)
    const incarnation = run.status?.incarnation?.number ?? 0
    const isTaken = run.status?.result?.incarnation === incarnation || run.status?.settledAt !== undefined
    if (isTaken || !isRecorded(run, pod)) return
    const { name, namespace, uid, resourceVersion } = run.metadata
    const result = { output: inlineContent(output), incarnation, reportedAt: new Date().toISOString() }
    const metadata = {
      name,
      ...(namespace && { namespace }),
      ...(uid && { uid }),
      ...(resourceVersion && { resourceVersion }),
    }
    const applied = { apiVersion: run.apiVersion, kind: run.kind, metadata, spec: run.spec, status: { result } }
    try {
      await client.applyStatus<Run>(applied, { fieldManager: fieldManagers.gateway })
      return
    } catch (error) {
      if (!isConflict(error)) throw error
    }
  }
}

function isRecorded(run: Run, pod: Pod): boolean {
  return run.status?.incarnation?.podUID === pod.metadata.uid
}

async function runOf(client: KubeClient, { metadata }: Pod): Promise<Run> {
  const name = metadata.labels?.[labels.run] ?? ''
  return client.get(runType, { name, ...(metadata.namespace && { namespace: metadata.namespace }) })
}

/** The run API as a pod sees it. */
export interface RunApi {
  self(token: string): Promise<{ readonly status: number; readonly text: string }>
  report(token: string, body: unknown): Promise<{ readonly status: number; readonly text: string }>
}

/** Talks to a real gateway, with a token as the kubelet projects it. */
export function gatewayRunner(client: KubeClient, api: RunApi, outputOf: OutputOf = () => 'done'): PodRunner {
  // The runner outlives a gateway that restarts, and a kubelet an API server.
  const ask = (pod: Pod, call: (token: string) => ReturnType<RunApi['self']>) =>
    eventually(
      async () => {
        const { status, text } = await call(await tokenOf(client, pod))
        if (status >= 300) throw new Error(`the gateway answered ${status}: ${text}`)
      },
      { timeout: 180_000, interval: 100 },
    )
  return {
    input: async (pod) => {
      await ask(pod, api.self)
    },
    report: async (pod) => {
      const output = outputOf(pod)
      if (output !== undefined) await ask(pod, (token) => api.report(token, { output }))
    },
  }
}

async function tokenOf(client: KubeClient, { metadata, spec }: Pod): Promise<string> {
  const { name, namespace, uid } = metadata
  const account = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    name: spec.serviceAccountName ?? '',
    namespace: namespace ?? '',
  }
  const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name, uid: uid ?? '' }
  const request = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { audiences: ['graphwright'], boundObjectRef },
  }
  const { status } = await client.createSubresource<TokenRequest>(account, 'token', request)
  return status?.token ?? ''
}
