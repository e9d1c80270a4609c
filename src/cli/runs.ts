import { automation } from '../api/automation.ts'
import { type AutomationFiring, automationFiring } from '../api/automation-firing.ts'
import { formatSpan } from '../lib/duration.ts'
import { compareText } from '../lib/text.ts'
import { throwUnknown, withCluster } from './cluster.ts'
import { cannotAsk, type ExitCode, exitCodes, type Io } from './io.ts'
import { type GlobalOptions, placeOptions } from './options.ts'
import { print } from './output.ts'
import { firingData, programReceipt } from './receipt.ts'
import { type OrderedFiring, StepOrders } from './step-order.ts'
import { table } from './table.ts'

export interface RunsOptions extends GlobalOptions {
  readonly limit: string
}

/** `runs NAME`: the newest firings of an Automation, newest first (A-552). */
export async function runsCommand(name: string, options: RunsOptions, io: Io): Promise<ExitCode> {
  const limit = Number(options.limit)
  if (!Number.isInteger(limit) || limit < 1) throw cannotAsk('usage', `--limit ${options.limit} is no number from 1 on`)
  return withCluster(options, async (cluster) => {
    const { client, namespace } = cluster
    const all = await client.list(automationFiring, { namespace })
    const firings = newestFirst(all.items.filter(({ spec }) => spec.automation.name === name))
    if (firings.length === 0 && (await client.find(automation, { name, namespace })) === undefined) {
      await throwUnknown(cluster, automation, name)
    }
    const orders = new StepOrders(cluster)
    const shown = await Promise.all(firings.slice(0, limit).map((firing) => orders.find(firing)))
    print(io, options, { items: shown.map(firingData) }, () =>
      shown.length === 0
        ? `${name} was never fired. Fire it by hand: ${io.invocation}${placeOptions(options)} run ${name}`
        : renderFirings(shown, io.clock.now()),
    )
    return exitCodes.ok
  })
}

function newestFirst(firings: readonly AutomationFiring[]): AutomationFiring[] {
  const key = ({ metadata }: AutomationFiring) => `${metadata.creationTimestamp ?? ''} ${metadata.name}`
  return firings.toSorted((a, b) => compareText(key(b), key(a)))
}

/** Firings as a table; the reasons of failed steps stand below it (A-541). */
export function renderFirings(firings: readonly OrderedFiring[], now: Date): string {
  const rows = firings.map(({ firing: { metadata, spec, status } }) => [
    metadata.name,
    spec.trigger,
    status?.phase ?? 'Pending',
    status?.step,
    status?.reason,
    metadata.creationTimestamp && formatSpan(metadata.creationTimestamp, now.toISOString()),
    status?.duration,
  ])
  const failures = firings.flatMap((ordered) =>
    programReceipt(ordered)
      .steps.filter(({ kind }) => kind === 'failed' || kind === 'rejected' || kind === 'denied')
      .map(({ id, kind, reason, message }) => `${ordered.firing.metadata.name}: ${id} ${kind}${tail(reason, message)}`),
  )
  const shown = table(['FIRING', 'TRIGGER', 'PHASE', 'STEP', 'REASON', 'AGE', 'DURATION'], rows)
  return failures.length === 0 ? shown : `${shown}\n\n${failures.join('\n')}`
}

function tail(reason: string | undefined, message: string | undefined): string {
  return `${reason === undefined ? '' : ` ${reason}`}${message === undefined ? '' : `: ${message}`}`
}
