import { type Agent, type AgentVersion, agent, agentVersion } from '../../src/api/agent.ts'
import { type Automation, type AutomationSpec, automation } from '../../src/api/automation.ts'
import { type AutomationFiring, type AutomationFiringSpec, automationFiring } from '../../src/api/automation-firing.ts'
import { type AutomationGraph, type AutomationGraphSpec, automationGraph } from '../../src/api/automation-graph.ts'
import { type AutomationGraphPlan, automationGraphPlan, type PlanContent } from '../../src/api/automation-graph-plan.ts'
import {
  type AutomationProgram,
  type AutomationProgramSpec,
  automationProgram,
  programDigest,
} from '../../src/api/automation-program.ts'
import { type Environment, type EnvironmentSpec, environment } from '../../src/api/environment.ts'
import type { Content } from '../../src/api/fields.ts'
import { type Run, type RunSpec, run } from '../../src/api/run.ts'
import { type Session, type SessionSpec, session } from '../../src/api/session.ts'
import { digestBytes, digestJson } from '../../src/lib/digest.ts'
import type { ObjectMeta, Resource, ResourceType } from '../../src/lib/object.ts'

/**
 * Valid objects of every kind, as small as they can be, that fit together: the firing of the automation `triage`, its
 * session, its run. A test states only what it is about.
 */

/** When everything was created. */
export const createdAt = '2026-11-30T12:00:00Z'

/** What a test may say about an object; the rest is made up. */
export interface Given<T extends { spec: unknown; status?: unknown }> {
  readonly name?: string
  readonly metadata?: Partial<ObjectMeta>
  readonly spec?: Partial<T['spec']>
  readonly status?: NonNullable<T['status']> | undefined
}

function build<T extends Resource<object, unknown>>(
  type: ResourceType<T>,
  name: string,
  spec: T['spec'],
  given: Given<T>,
): T {
  const metadata: ObjectMeta = {
    name: given.name ?? name,
    namespace: 'default',
    uid: `uid-of-${given.name ?? name}`,
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: createdAt,
    ...given.metadata,
  }
  const { apiVersion, kind } = type
  const object = { apiVersion, kind, metadata, spec: { ...spec, ...given.spec } }
  return (given.status === undefined ? object : { ...object, status: given.status }) as T
}

/** The object as a person or the operator would send it: without what the API server fills in. */
export function unsaved<T extends { metadata: ObjectMeta; status?: unknown }>(object: T, namespace: string): T {
  const { uid, resourceVersion, generation, creationTimestamp, ...metadata } = object.metadata
  const { status, ...rest } = object
  return { ...rest, metadata: { ...metadata, namespace } } as T
}

/** A text as it is kept in a resource. */
export function inlineContent(text: string): Content {
  return { inline: text, digest: digestBytes(text), size: Buffer.byteLength(text) }
}

export function anEnvironment(given: Given<Environment> = {}): Environment {
  const spec: EnvironmentSpec = {
    image: 'registry.example/agent:1',
    deadlineSeconds: 3600,
    workspaceSize: '1Gi',
    network: 'isolated',
  }
  return build(environment, 'default', spec, given)
}

export function anAgent(given: Given<Agent> = {}): Agent {
  return build(agent, 'triager', { runtime: { container: {} }, repeatSafe: false }, given)
}

export function anAgentVersion(given: Given<AgentVersion> = {}): AgentVersion {
  const configuration = { runtime: { container: {} }, repeatSafe: false }
  const spec = { agent: 'triager', version: 1, digest: digestJson(configuration), ...configuration }
  return build(agentVersion, 'triager-v1', spec, given)
}

export function aGraph(given: Given<AutomationGraph> = {}): AutomationGraph {
  const spec: AutomationGraphSpec = {
    environment: 'default',
    serviceAccountName: 'triage',
    nodes: [
      { id: 'by-hand', kind: 'trigger', trigger: { kind: 'manual' } },
      { id: 'triage', kind: 'step_agent', agent: 'triager', prompt: 'Triage this.' },
    ],
    edges: [{ kind: 'starts', from: 'by-hand', to: 'triage' }],
    applyPolicy: 'Review',
    driftPolicy: 'Report',
    planHistoryLimit: 10,
  }
  return build(automationGraph, 'triage', spec, given)
}

export function aPlan(
  given: Given<AutomationGraphPlan> & {
    readonly content?: Partial<PlanContent>
  } = {},
): AutomationGraphPlan {
  const content: PlanContent = {
    graph: 'triage',
    graphUID: 'uid-of-triage',
    revision: 1,
    document: {},
    automation: {},
    dispositions: [{ kind: 'Automation', name: 'triage', action: 'Create' }],
    pins: [],
    blockers: [],
    requiredInputs: [],
    digest: digestJson({}),
    ...given.content,
  }
  return build(automationGraphPlan, 'triage-1', { content }, given)
}

export function aProgram(given: Given<AutomationProgram> = {}): AutomationProgram {
  const program: AutomationProgramSpec['program'] = {
    entries: [{ id: 'by-hand', kind: 'manual' }],
    steps: [{ id: 'triage', kind: 'agent', after: [{ id: 'by-hand' }], agent: 'triager', prompt: 'Triage this.' }],
  }
  const version = anAgentVersion()
  const pins = [{ agent: 'triager', version: 'triager-v1', digest: version.spec.digest, uid: 'uid-of-triager-v1' }]
  const spec = { formatVersion: 1, graph: 'triage', program, pins, ...given.spec }
  return build(automationProgram, 'triage-program', { digest: programDigest(spec), ...spec }, given)
}

export function anAutomation(given: Given<Automation> = {}): Automation {
  const spec: AutomationSpec = {
    triggers: [{ id: 'by-hand', kind: 'manual' }],
    target: { agent: { name: 'triager', prompt: 'Triage this.' } },
    environment: 'default',
    serviceAccountName: 'triage',
    concurrencyPolicy: 'Allow',
  }
  return build(automation, 'triage', spec, given)
}

export function aFiring(given: Given<AutomationFiring> = {}): AutomationFiring {
  const spec: AutomationFiringSpec = { automation: { name: 'triage' }, trigger: 'manual', requestedBy: 'jane' }
  return build(automationFiring, 'triage-manual-1', spec, given)
}

export function aSession(given: Given<Session> = {}): Session {
  const version = anAgentVersion()
  const spec: SessionSpec = {
    firing: { name: 'triage-manual-1', uid: 'uid-of-triage-manual-1' },
    step: 'triage',
    item: 0,
    attempt: 0,
    agentVersion: { name: version.metadata.name, uid: `uid-of-${version.metadata.name}`, digest: version.spec.digest },
    environment: { name: 'default', spec: anEnvironment().spec },
    serviceAccountName: 'triage',
    input: { prompt: inlineContent('Triage this.') },
  }
  return build(session, 'triage-session', spec, given)
}

export function aRun(given: Given<Run> = {}): Run {
  const spec: RunSpec = {
    session: { name: 'triage-session', uid: 'uid-of-triage-session' },
    firing: { name: 'triage-manual-1', uid: 'uid-of-triage-manual-1' },
    step: 'triage',
    sequence: 0,
  }
  return build(run, 'triage-run', spec, given)
}
