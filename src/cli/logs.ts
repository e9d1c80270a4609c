import { automationFiring } from '../api/automation-firing.ts'
import type { Content } from '../api/fields.ts'
import { type Run, run } from '../api/run.ts'
import { containerNames } from '../api/run-api.ts'
import { isExpired, isNotFound, KubeError } from '../kube/error.ts'
import { compareText } from '../lib/text.ts'
import { type Cluster, unknownName, withCluster } from './cluster.ts'
import { cannotAsk, type ExitCode, exitCodes, type Io } from './io.ts'
import { formatOf, type GlobalOptions } from './options.ts'
import { print } from './output.ts'

export interface LogsOptions extends GlobalOptions {
  readonly step?: string
}

const tailBytes = 1024 * 1024

interface RunLogs {
  readonly run: string
  readonly step: string
  readonly pod: string | null
  /** null where they cannot be read; then the message says why. */
  readonly logs: string | null
  readonly message: string | null
}

/** `logs FIRING|RUN`: what the agents' containers wrote, as long as their pods exist and the nodes of these keep it. */
export async function logsCommand(name: string, options: LogsOptions, io: Io): Promise<ExitCode> {
  return withCluster(options, async (cluster) => {
    const runs = await runsOf(name, options.step, cluster)
    const read = await Promise.all(runs.map((one) => readLogs(one, cluster)))
    if (formatOf(options) !== undefined) print(io, options, { runs: read }, () => '')
    else printLogs(read, io)
    return read.some(({ logs }) => logs !== null) ? exitCodes.ok : exitCodes.couldNotAsk
  })
}

async function runsOf(name: string, step: string | undefined, { client, namespace }: Cluster): Promise<Run[]> {
  const { items } = await client.list(run, { namespace })
  const mine = items.filter(({ metadata, spec }) => metadata.name === name || spec.firing.name === name)
  const chosen = mine.filter(({ spec }) => step === undefined || spec.step === step)
  if (chosen.length > 0) return chosen.toSorted((a, b) => compareText(orderOf(a), orderOf(b)))
  if (mine.length > 0) {
    const steps = [...new Set(mine.map(({ spec }) => spec.step))]
    throw cannotAsk('not_found', `no pod worked for the step ${step} of ${name}; pods worked for: ${steps.join(', ')}`)
  }
  const firings = await client.list(automationFiring, { namespace })
  const names = firings.items.map(({ metadata }) => metadata.name)
  if (names.includes(name)) throw cannotAsk('no_runs', `the firing ${name} has not started a pod; see its trace`)
  throw cannotAsk('not_found', unknownName('firing or run', name, namespace, names))
}

function orderOf({ metadata, spec }: Run): string {
  return `${metadata.creationTimestamp ?? ''} ${spec.step} ${String(spec.sequence).padStart(6, '0')}`
}

async function readLogs({ metadata, spec, status }: Run, { client, namespace }: Cluster): Promise<RunLogs> {
  const pod = status?.incarnation?.pod ?? null
  const head = { run: metadata.name, step: spec.step, pod }
  if (pod === null) {
    const why =
      status?.settledAt === undefined ? 'has no pod yet' : `ended without a pod: ${status.message ?? status.reason}`
    return { ...head, logs: null, message: `the run ${metadata.name} ${why}` }
  }
  try {
    const logs = await client.logs({ name: pod, namespace }, containerNames.agent, { tailBytes })
    return { ...head, logs, message: null }
  } catch (error) {
    return { ...head, logs: null, message: whyNone(error, pod, status?.logs) }
  }
}

/** @throws what it was given, where that is no matter of one pod */
function whyNone(error: unknown, pod: string, kept: Content | undefined): string {
  if (!(error instanceof KubeError)) throw error
  if (error.status === 400) return `the container of ${pod} has not started yet`
  if (!isNotFound(error) && !isExpired(error)) throw error
  const gone = isNotFound(error) ? `the pod ${pod} is gone` : `the node of the pod ${pod} no longer has its log`
  if (kept === undefined) return gone
  return `${gone}; the last ${kept.size} bytes it wrote are kept as ${kept.digest}, which cannot be read from here yet`
}

/** Logs as they are; with several runs each under a heading, on the error stream like everything that is no log. */
function printLogs(read: readonly RunLogs[], io: Io): void {
  for (const { run: name, step, logs, message } of read) {
    if (read.length > 1) io.err(`==> ${step} (${name})\n`)
    if (logs !== null) io.out(logs === '' || logs.endsWith('\n') ? logs : `${logs}\n`)
    else io.err(`${message}\n`)
  }
}
