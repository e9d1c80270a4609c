import { automationFiring } from '../api/automation-firing.ts'
import { automationProgram } from '../api/automation-program.ts'
import { type Run, run } from '../api/run.ts'
import { type Session, session } from '../api/session.ts'
import { type Cluster, getNamed, withCluster } from './cluster.ts'
import { type ExitCode, exitCodes, type Io } from './io.ts'
import type { GlobalOptions } from './options.ts'
import { print } from './output.ts'
import { renderOutput, renderSteps } from './receipt.ts'
import { orderOf, placeOf } from './step-order.ts'
import { fields, indent, table } from './table.ts'
import { missingEvidence, receiptOf, type Trace, traceData } from './trace-data.ts'

/** `trace FIRING`: everything recorded of a firing, read once; nothing is resumed or retried (A-537, A-540). */
export async function traceCommand(name: string, options: GlobalOptions, io: Io): Promise<ExitCode> {
  return withCluster(options, async (cluster) => {
    const trace = await readTrace(name, cluster)
    print(io, options, traceData(trace), () => renderTrace(trace))
    return exitCodes.ok
  })
}

async function readTrace(name: string, cluster: Cluster): Promise<Trace> {
  const { client, namespace } = cluster
  const firing = await getNamed(cluster, automationFiring, name)
  const admitted = firing.status?.admission?.program?.name
  const [program, sessions, runs] = await Promise.all([
    admitted === undefined ? undefined : client.find(automationProgram, { name: admitted, namespace }),
    client.list(session, { namespace }),
    client.list(run, { namespace }),
  ])
  const order = orderOf(program)
  const ofFiring = <T extends Session | Run>(items: readonly T[]): T[] =>
    items
      .filter(({ spec }) => spec.firing.uid === firing.metadata.uid)
      .sort((a, b) => placeOf(a.spec.step, order) - placeOf(b.spec.step, order))
  return { firing, program, sessions: ofFiring(sessions.items), runs: ofFiring(runs.items) }
}

/** A trace for people (A-538, A-539). */
export function renderTrace(trace: Trace): string {
  const { firing, runs } = trace
  const { spec, status, metadata } = firing
  const { state, result, steps } = receiptOf(trace)
  const missing = missingEvidence(trace)
  const entry = status?.admission?.entry ?? spec.entry
  return [
    fields([
      ['Firing', metadata.name],
      ['Automation', spec.automation.name],
      ['Trigger', `${spec.trigger}${entry === undefined ? '' : `, by ${entry}`}, requested by ${spec.requestedBy}`],
      ['Acts as', status?.admission?.principal.serviceAccountName],
      ['Phase', `${status?.phase ?? 'Pending'}${status?.reason === undefined ? '' : ` (${status.reason})`}`],
      ['Message', status?.message],
      ['Program', `${state}${result === null ? ', no result yet' : `: ${result}`}`],
      ['Started', status?.startedAt],
      ['Duration', status?.duration],
      ['Evidence', missing.length === 0 ? 'complete' : `incomplete: ${missing.join('; ')}`],
    ]),
    ...(steps.length === 0 ? [] : ['', renderSteps(steps, status?.message)]),
    ...(runs.length === 0 ? [] : ['', renderRuns(runs)]),
    ...(status?.output === undefined ? [] : ['', indent(renderOutput(status.output), '')]),
  ].join('\n')
}

function renderRuns(runs: Trace['runs']): string {
  const rows = runs.map(({ metadata, spec, status }) => [
    metadata.name,
    spec.step,
    status?.phase ?? 'Pending',
    status?.reason,
    status?.exitCode === undefined ? undefined : String(status.exitCode),
    status?.incarnation?.pod ?? status?.incarnation?.job,
    status?.incarnation?.node,
  ])
  const replaced = runs.flatMap(({ spec, status }) => {
    const { number = 0, replaces } = status?.incarnation ?? {}
    return replaces === undefined ? [] : [`Pod ${number + 1} of ${spec.step}; the one before: ${replaces.message}.`]
  })
  return [table(['RUN', 'STEP', 'PHASE', 'REASON', 'EXIT', 'POD', 'NODE'], rows), ...replaced].join('\n')
}
