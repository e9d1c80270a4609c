import type { AgentSpec } from '../../src/api/agent.ts'
import type { EnvironmentSpec } from '../../src/api/environment.ts'
import { apiVersion } from '../../src/api/kind.ts'

/** Manifests as people write them. */

export const samplesImage = 'localhost/graphwright-samples:dev'

/** The ServiceAccount and the Environment that the graphs of {@link graph} name. */
export function surroundings(environment: Partial<EnvironmentSpec> = {}): object[] {
  const resources = { requests: { cpu: '10m', memory: '16Mi' }, limits: { memory: '128Mi' } }
  const spec = { image: samplesImage, deadlineSeconds: 600, resources, ...environment }
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'worker' }, automountServiceAccountToken: false },
    { apiVersion, kind: 'Environment', metadata: { name: 'work' }, spec },
  ]
}

/** An agent that runs a shell script, not repeat-safe unless told otherwise. */
export function shellAgent(name: string, script: string, spec: Partial<AgentSpec> = {}): object {
  const container = { command: ['/bin/sh', '-c'], args: [script] }
  return { apiVersion, kind: 'Agent', metadata: { name }, spec: { runtime: { container }, ...spec } }
}

export type Node = { readonly id: string; readonly kind: string } & { readonly [field: string]: unknown }
export interface Edge {
  readonly kind: string
  readonly from: string
  readonly to?: string
}

const byHand: Node = { id: 'by-hand', kind: 'trigger', trigger: { kind: 'manual' } }

/** A trigger by the clock, in UTC. */
export function scheduled(cron: string): Node {
  return { id: 'clock', kind: 'trigger', trigger: { kind: 'schedule', cron, timezone: 'UTC' } }
}

/** A graph that is applied without review: its nodes one after the other, with what else is said. */
export function graph(
  name: string,
  nodes: readonly Node[],
  edges: readonly Edge[] = [],
  trigger: Node = byHand,
): object {
  const sequence = nodes.slice(1).map(({ id }, index) => ({ kind: 'then', from: nodes[index]?.id, to: id }))
  const document = {
    environment: 'work',
    serviceAccountName: 'worker',
    nodes: [trigger, ...nodes],
    edges: [{ kind: 'starts', from: trigger.id, to: nodes[0]?.id }, ...sequence, ...edges],
  }
  return { apiVersion, kind: 'AutomationGraph', metadata: { name }, spec: { ...document, applyPolicy: 'Automatic' } }
}

/** A step that runs the agent of its own name. */
export function agentStep(id: string, fields: { readonly [field: string]: unknown } = {}): Node {
  return { id, kind: 'step_agent', agent: id, prompt: 'Do it.', ...fields }
}
