import { readFileSync } from 'node:fs'
import { automationFiring } from '../../src/api/automation-firing.ts'
import { labels, networkLabel } from '../../src/api/labels.ts'
import { run } from '../../src/api/run.ts'
import { containerNames, podPaths } from '../../src/api/run-api.ts'
import { type Container, type Job, jobType, type Pod, podType } from '../../src/kube/core-types.ts'
import type { DeepReadonly } from '../../src/lib/readonly.ts'
import { type Figure, medianBelow, medianWithin } from './figure.ts'
import { alternate } from './statistics.ts'
import type { Witness } from './witness.ts'
import { sampleGraph, type Workbench } from './workbench.ts'

const incident = new URL('../../manifests/samples/triage-and-escalate/events/incident.json', import.meta.url)

/** Milliseconds. */
interface Passage {
  readonly whole: number
  /** Of each of the two Jobs: from its creation to its main container running. */
  readonly starts: readonly number[]
}

interface TriagePassage extends Passage {
  /** From the triage agent's recorded result to the next Job. */
  readonly handOver: number
  /** From the same result to the end of the pod that it came from. */
  readonly podEnd: number
}

/**
 * The sample graph with the incident in pods: from the request that creates the firing until it has succeeded, and what
 * it consists of. Peer: two Jobs of the same containers, the second created when the first is complete.
 */
export async function measureTriage(bench: Workbench, rounds: number): Promise<Figure[]> {
  const graph = 'triage'
  const event = JSON.parse(readFileSync(incident, 'utf8'))
  const seen = {
    firings: await bench.witness(automationFiring),
    runs: await bench.witness(run),
    jobs: await bench.witness(jobType),
    pods: await bench.witness(podType),
  }
  await bench.automate(sampleGraph(graph))
  let template: DeepReadonly<Job> | undefined

  async function triage(): Promise<TriagePassage> {
    const { firing, at } = await bench.fire(graph, event)
    const { name } = firing.metadata
    const end = await seen.firings.first(
      ({ metadata, status }) => metadata.name === name && status?.result !== undefined,
    )
    if (end.object.status?.phase !== 'Succeeded') throw new Error(`${name} ended ${end.object.status?.phase}`)
    const [first, second] = await Promise.all(['triage', 'escalate'].map((step) => jobOf(seen.jobs, name, step)))
    if (first === undefined || second === undefined) throw new Error(`${name} ran in less than two Jobs`)
    template = first.object
    const recorded = await seen.runs.first(
      ({ metadata, status }) =>
        metadata.name === first.object.metadata.labels?.[labels.run] && status?.result !== undefined,
    )
    const starts = await Promise.all([first, second].map((job) => startOf(seen.pods, job)))
    const gone = await Promise.all([first, second].map(({ object }) => podEnd(seen.pods, object.metadata.name)))
    return {
      whole: end.at - at,
      starts,
      handOver: second.at - recorded.at,
      podEnd: (gone[0]?.at ?? Number.NaN) - recorded.at,
    }
  }

  async function twoJobs(round: number): Promise<Passage> {
    if (template === undefined) throw new Error('the first turn must be that of the graph')
    const start = performance.now()
    const starts: number[] = []
    let end = start
    for (const part of ['a', 'b']) {
      const name = `peer-${round}-${part}`
      await bench.create(bareJob(name, template))
      const made = await seen.jobs.first(({ metadata }) => metadata.name === name)
      starts.push(await startOf(seen.pods, made))
      end = (await seen.jobs.first((job) => job.metadata.name === name && isComplete(job))).at
    }
    return { whole: end - start, starts }
  }

  const { ours, peer } = await alternate(rounds, triage, twoJobs)
  return figuresOf(ours, peer)
}

function figuresOf(ours: readonly TriagePassage[], peer: readonly Passage[]): Figure[] {
  return [
    {
      title: 'Job created → agent running',
      unit: 'ms',
      ours: ours.flatMap(({ starts }) => starts),
      peer: { title: 'a bare Job of the same containers', samples: peer.flatMap(({ starts }) => starts) },
      target: medianWithin(300),
    },
    {
      title: 'triage graph, two pods: firing created → Succeeded',
      unit: 'ms',
      ours: ours.map(({ whole }) => whole),
      peer: { title: 'two such Jobs, one after the other', samples: peer.map(({ whole }) => whole) },
      target: medianBelow(12_000),
    },
    {
      title: 'result recorded → next Job created',
      unit: 'ms',
      ours: ours.map(({ handOver }) => handOver),
      peer: { title: 'result recorded → its pod ended', samples: ours.map(({ podEnd }) => podEnd) },
      target: { text: 'before the pod has ended', isMet: (next, pod) => pod !== undefined && next.p50 < pod.p50 },
    },
  ]
}

type Made = Awaited<ReturnType<Witness<Job>['first']>>

function jobOf(jobs: Witness<Job>, firing: string, step: string): Promise<Made> {
  return jobs.first(
    ({ metadata }) => metadata.labels?.[labels.firing] === firing && metadata.labels[labels.step] === step,
  )
}

/** Milliseconds from the Job to its main container running, both as the watch brings them. */
async function startOf(pods: Witness<Pod>, { at, object }: Made): Promise<number> {
  const started = await pods.first((pod) => isOf(pod, object.metadata.name) && hasStarted(pod))
  return started.at - at
}

function podEnd(pods: Witness<Pod>, job: string) {
  return pods.first((pod) => isOf(pod, job) && (pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'))
}

function isOf({ metadata }: DeepReadonly<Pod>, job: string): boolean {
  return metadata.labels?.['batch.kubernetes.io/job-name'] === job
}

function hasStarted({ status }: DeepReadonly<Pod>): boolean {
  const state = status?.containerStatuses?.find(({ name }) => name === containerNames.agent)?.state
  return state?.running !== undefined || state?.terminated !== undefined
}

function isComplete({ status }: DeepReadonly<Job>): boolean {
  return status?.conditions?.some(({ type, status }) => type === 'Complete' && status === 'True') ?? false
}

/** Node programs of the same size of work, without the gateway: nothing is fetched, nothing reported. */
const standIns: Readonly<Record<string, string>> = {
  [containerNames.input]: '0',
  [containerNames.runner]: 'process.on("SIGTERM", () => process.exit(0)); setInterval(() => {}, 2 ** 30)',
  [containerNames.agent]: `require("node:fs").writeFileSync(${JSON.stringify(podPaths.result)}, "{}")`,
}

/**
 * The pod of the graph's own Job, with the same images, volumes, token and limits, and programs that stand in for those
 * of the operator. Another ServiceAccount, because nobody but the operator may use its own.
 */
function bareJob(name: string, { spec }: DeepReadonly<Job>): Job {
  const { spec: pod, metadata } = structuredClone(spec?.template) as NonNullable<Job['spec']>['template']
  const network = metadata?.labels?.[networkLabel] ?? 'isolated'
  const standIn = ({ args: _, ...container }: Container): Container => ({
    ...container,
    command: ['node', '--eval', standIns[container.name] ?? ''],
  })
  const { apiVersion, kind } = jobType
  return {
    apiVersion,
    kind,
    metadata: { name },
    spec: {
      backoffLimit: 0,
      template: {
        metadata: { labels: { [networkLabel]: network } },
        spec: {
          ...pod,
          serviceAccountName: 'triage',
          initContainers: (pod.initContainers ?? []).map(standIn),
          containers: pod.containers.map(standIn),
        },
      },
    },
  }
}
