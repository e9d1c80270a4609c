import { randomUUID } from 'node:crypto'
import { agent } from '../../src/api/agent.ts'
import { type AutomationGraph, automationGraph } from '../../src/api/automation-graph.ts'
import type { AutomationGraphPlan } from '../../src/api/automation-graph-plan.ts'
import { environment } from '../../src/api/environment.ts'
import { apiVersion } from '../../src/api/kind.ts'
import { labels, managedByValue } from '../../src/api/labels.ts'
import { compile } from '../../src/graph/compile.ts'
import type { KubeClient } from '../../src/kube/client.ts'
import { serviceAccountType } from '../../src/kube/core-types.ts'
import type { KubeObject } from '../../src/lib/object.ts'
import { programFor } from '../../src/plan/managed-spec.ts'
import { planGraph } from '../../src/plan/plan.ts'
import { type PlanWorld, planWorldOf } from '../../src/plan/world.ts'
import { isTrue } from '../../src/runtime/conditions.ts'
import { contentDigestAnnotation, withContentDigest } from '../../src/runtime/ownership.ts'
import type { Etcd } from './etcd-client.ts'
import { sampleObjects } from './samples.ts'

/**
 * Very many graphs at rest, each with its plan, program and Automation. The operator makes one, and the others are written
 * into etcd as it would have left them: the same bytes, but for what differs by name, UID and time.
 */

const sample = 'triage-and-escalate'
const group = '/registry/graphwright.dev'
const lanes = 32

/** A person's name for the n-th graph: of equal length, and found nowhere else in an object. */
export function herdName(index: number): string {
  return `herd-${String(index).padStart(5, '0')}`
}

/** The graph of the sample with a schedule of its own, and with instructions that make its document nearly 2 KiB long. */
export function herdGraph(name: string, cron: string): AutomationGraph {
  const [graph] = sampleObjects(`${sample}/graph.yaml`) as AutomationGraph[]
  if (graph === undefined) throw new Error(`the sample ${sample} has no graph`)
  const { nodes, ...spec } = structuredClone(graph.spec)
  const duty = `You look after ${name}: its queue, its disks, its certificates and whatever else its owners are woken for. `
  return {
    ...graph,
    metadata: { name },
    spec: {
      ...spec,
      applyPolicy: 'Automatic',
      nodes: nodes.map((node) => {
        if (node.trigger?.kind === 'schedule') return { ...node, trigger: { kind: 'schedule', cron, timezone: 'UTC' } }
        return node.prompt === undefined ? node : { ...node, prompt: duty.repeat(5) + node.prompt }
      }),
    },
  }
}

/** What the graphs refer to: the Environment, the ServiceAccount and the Agents of the sample. */
export function pasture(): KubeObject[] {
  return ['service-account', 'environment', 'agents'].flatMap((file) => sampleObjects(`${sample}/${file}.yaml`))
}

/** True when the operator has looked at what the graphs refer to: a graph that is applied before is planned twice. */
export async function isPastureReady(client: KubeClient, namespace: string): Promise<boolean> {
  const { items: agents } = await client.list(agent, { namespace })
  const { items: environments } = await client.list(environment, { namespace })
  const isPublished = agents.every(({ status }) => status?.latestVersion !== undefined)
  return isPublished && environments.every(({ status }) => isTrue(status?.conditions, 'Ready'))
}

/** A graph and what the operator made of it, as the texts that etcd holds, by key. */
export type Kept = ReadonlyMap<string, string>

/** Reads what the operator has made of a graph. */
export async function readKept(etcd: Etcd, namespace: string, name: string): Promise<Kept> {
  const prefixes = ['automationgraphs', 'automationgraphplans', 'automationprograms', 'automations']
  const found = await Promise.all(prefixes.map((plural) => etcd.range(`${group}/${plural}/${namespace}/${name}`)))
  if (found.some((keys) => keys.length !== 1)) throw new Error(`${name} has not exactly one object of each kind`)
  return new Map(found.flat().map(({ key, value }) => [key, value]))
}

type Referenced = Pick<PlanWorld, 'environment' | 'serviceAccount' | 'agents'>

/** Copies one graph at rest, with all that belongs to it, to other names. */
export class Breeder {
  readonly #model: Kept
  readonly #graph: AutomationGraph
  readonly #world: Referenced

  private constructor(model: Kept, world: Referenced) {
    this.#model = model
    this.#graph = objectOf<AutomationGraph>(model, automationGraph.kind)
    this.#world = world
  }

  static async from(client: KubeClient, model: Kept): Promise<Breeder> {
    const { metadata, spec } = objectOf<AutomationGraph>(model, automationGraph.kind)
    const { namespace = '' } = metadata
    const agents = spec.nodes.flatMap((node) => (node.agent === undefined ? [] : [node.agent]))
    const world = planWorldOf({
      graph: { name: '', uid: '', namespace },
      revision: 1,
      environment: await client.get(environment, { namespace, name: spec.environment }),
      serviceAccount: await client.get(serviceAccountType, { namespace, name: spec.serviceAccountName }),
      agents: await Promise.all(agents.map((name) => client.get(agent, { namespace, name }))),
      automation: undefined,
      appliedPlanDigest: undefined,
    })
    return new Breeder(model, world)
  }

  /**
   * The texts of one more graph.
   * @param uids of its objects, in the order of the model's; default: new ones
   */
  copy(name: string, uids: readonly string[] = [...this.#model].map(() => randomUUID())): Kept {
    const own = [...this.#model.values()].map((text) => (JSON.parse(text) as KubeObject).metadata.uid ?? '')
    const uidOf = new Map(own.map((uid, index) => [uid, uids[index] ?? '']))
    const graphUid = this.#graph.metadata.uid ?? ''
    const words = new Map([
      ...uidOf,
      ...zip(
        this.#namesAndDigests(this.#graph.metadata.name, graphUid),
        this.#namesAndDigests(name, uidOf.get(graphUid) ?? ''),
      ),
    ])
    const replaced = (text: string) => [...words].reduce((done, [from, to]) => done.replaceAll(from, to), text)
    return new Map([...this.#model].map(([key, text]) => [replaced(key), replaced(text)]))
  }

  /** Everything in the objects that follows from the name of the graph, always in the same order; the name comes last. */
  #namesAndDigests(name: string, uid: string): string[] {
    const { approval } = objectOf<AutomationGraphPlan>(this.#model, 'AutomationGraphPlan').spec
    const renamed = JSON.parse(
      JSON.stringify(this.#graph).replaceAll(this.#graph.metadata.name, name),
    ) as AutomationGraph
    const { environment: place, serviceAccountName, nodes, edges } = renamed.spec
    const compiled = compile({ environment: place, serviceAccountName, nodes, edges }, { now: new Date() })
    if (compiled.kind === 'rejected') throw new Error(`the document of ${name} does not compile`)
    const graph = { name, uid, namespace: this.#graph.metadata.namespace ?? '' }
    const content = planGraph(compiled, { ...this.#world, graph, revision: 1, appliedPlanDigest: undefined })
    const program = programFor(name, compiled, content.pins)
    if (program === undefined) throw new Error(`the document of ${name} makes no program`)
    const meant = [
      { kind: 'AutomationProgram', spec: program.spec },
      { kind: 'AutomationGraphPlan', spec: { content, approval: { ...approval, digest: content.digest } } },
      { kind: 'Automation', spec: content.automation },
    ]
    const digests = [compiled.documentDigest, program.spec.digest, content.digest]
    return [...digests, ...meant.map((object) => contentDigestOf(object, name)), program.name, name]
  }
}

/** What is written on an object that the operator creates for a graph. */
function contentDigestOf({ kind, spec }: { readonly kind: string; readonly spec: unknown }, graph: string): string {
  const metadata = { name: '', labels: { [labels.graph]: graph, [labels.managedBy]: managedByValue } }
  const { annotations } = withContentDigest({ apiVersion, kind, metadata, ...{ spec } }).metadata
  return annotations?.[contentDigestAnnotation] ?? ''
}

/** The object of a kind. */
function objectOf<T extends KubeObject>(kept: Kept, kind: string): T {
  const found = [...kept.values()].map((text) => JSON.parse(text) as T).find((object) => object.kind === kind)
  if (found === undefined) throw new Error(`there is no ${kind}`)
  return found
}

function zip(from: readonly string[], to: readonly string[]): [string, string][] {
  return from.map((word, index) => [word, to[index] ?? ''])
}

/** Writes copies, named by {@link herdName} with the numbers from `from` up to `to`, and returns when all are stored. */
export async function sow(
  etcd: Etcd,
  breeder: Breeder,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  let next = from
  const lane = async () => {
    while (next < to) {
      for (const [key, value] of breeder.copy(herdName(next++))) await etcd.put(key, value)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

/** Throws unless a copy is, byte by byte and times apart, what the operator has made under that name. */
export function expectSame(breeder: Breeder, name: string, made: Kept): void {
  const uids = [...made.values()].map((text) => (JSON.parse(text) as KubeObject).metadata.uid ?? '')
  const timeless = (kept: Kept) => [...kept].map(([key, text]) => `${key} ${text.replaceAll(times, 'TIME')}`)
  const copied = timeless(breeder.copy(name, uids))
  for (const [index, text] of timeless(made).entries()) {
    if (text !== copied[index]) throw new Error(`a copy is not what the operator makes:\n${copied[index]}\n${text}`)
  }
}

const times = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g
