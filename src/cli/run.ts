import { type Automation, automation } from '../api/automation.ts'
import type { AutomationFiring } from '../api/automation-firing.ts'
import { automationGraph } from '../api/automation-graph.ts'
import { whoAmI } from '../kube/identity.ts'
import { type Cluster, throwUnknown, withCluster } from './cluster.ts'
import { readEvent } from './event.ts'
import { checkNotPaused, fire, manualFiring } from './fire.ts'
import { follow } from './follow.ts'
import { cannotAsk, type ExitCode, exitCodes, type Io } from './io.ts'
import { formatOf, type GlobalOptions, placeOptions } from './options.ts'
import { print } from './output.ts'
import { firingData, programReceipt, renderFiring, renderOutput } from './receipt.ts'
import { type OrderedFiring, StepOrders } from './step-order.ts'

export interface RunOptions extends GlobalOptions {
  readonly event?: string
  readonly idempotencyKey?: string
  readonly trigger?: string
  readonly follow?: boolean
  readonly exitStatus?: boolean
}

/** `run NAME`: fires an Automation by hand. The next scheduled occurrence is untouched. */
export async function runCommand(name: string, options: RunOptions, io: Io): Promise<ExitCode> {
  if (options.exitStatus === true && options.follow !== true) {
    throw cannotAsk('usage', '--exit-status needs --follow: only a settled firing has a result')
  }
  const event = await readEvent(options.event, io)
  return withCluster(options, async (cluster) => {
    const tool = `${io.invocation}${placeOptions(options)}`
    const target = await findAutomation(name, cluster, tool)
    checkNotPaused(target, tool)
    warnIfNotReady(target, io)
    const request = await requestOf(target, event, options, cluster)
    const { firing, rejoined } = await fire(request, cluster)
    announce(firing, rejoined, options, io)
    if (options.follow !== true) {
      const ordered = await new StepOrders(cluster).find(firing)
      print(io, options, firingData(ordered), () => receiptText(ordered, tool))
      return exitCodes.ok
    }
    const settled = await follow(firing, cluster, io)
    print(io, options, firingData(settled), () => settledText(settled, tool))
    const failed = programReceipt(settled).result !== 'completed'
    return options.exitStatus === true && failed ? exitCodes.refused : exitCodes.ok
  })
}

async function findAutomation(name: string, cluster: Cluster, tool: string): Promise<Automation> {
  const { client, namespace } = cluster
  const found = await client.find(automation, { name, namespace })
  if (found !== undefined) return found
  if ((await client.find(automationGraph, { name, namespace })) === undefined)
    return throwUnknown(cluster, automation, name)
  throw cannotAsk(
    'not_applied',
    `the graph ${name} has no Automation yet: approve its plan first, ${tool} approve ${name}`,
  )
}

/** The firing is made all the same: it records why nothing ran. */
function warnIfNotReady({ metadata, status }: Automation, io: Io): void {
  for (const { message } of status?.readiness ?? []) io.err(`warning: ${metadata.name} is not ready: ${message}\n`)
}

async function requestOf(
  target: Automation,
  event: unknown,
  options: RunOptions,
  cluster: Cluster,
): Promise<AutomationFiring> {
  return manualFiring(target, {
    user: await whoAmI(cluster.client),
    entry: entryOf(target.spec.triggers, options.trigger, target.metadata.name),
    idempotencyKey: options.idempotencyKey,
    event,
  })
}

/** Where the firing enters: as asked, else by the manual trigger, else by the only one. */
export function entryOf(
  triggers: Automation['spec']['triggers'],
  asked: string | undefined,
  automationName: string,
): string {
  const listed = triggers.map(({ id, kind }) => `${id} (${kind})`).join(', ')
  const chosen =
    asked === undefined
      ? (triggers.find(({ kind }) => kind === 'manual') ?? (triggers.length === 1 ? triggers[0] : undefined))
      : triggers.find(({ id }) => id === asked)
  if (chosen !== undefined) return chosen.id
  if (asked !== undefined)
    throw cannotAsk('not_found', `Automation ${automationName} has no trigger ${asked}; it has: ${listed}`)
  throw cannotAsk(
    'usage',
    `Automation ${automationName} has several triggers and none is manual; choose one by --trigger: ${listed}`,
  )
}

function announce(firing: AutomationFiring, rejoined: boolean, options: RunOptions, io: Io): void {
  if (formatOf(options) !== undefined && options.follow !== true) return
  const { name } = firing.metadata
  const how = rejoined ? 'is there already: rejoined' : 'created'
  const tell = formatOf(options) === undefined ? io.out : io.err
  tell(`Firing ${name} of Automation ${firing.spec.automation.name} ${how}.\n`)
}

function settledText(settled: OrderedFiring, tool: string): string {
  const { output } = settled.firing.status ?? {}
  const completed = programReceipt(settled).result === 'completed'
  const parts = [renderFiring(settled), renderOutput(output), completed ? '' : nextLooks(settled, tool)]
  return `\n${parts.filter((part) => part !== '').join('\n\n')}`
}

function nextLooks({ firing: { metadata } }: OrderedFiring, tool: string): string {
  return `Next: ${tool} trace ${metadata.name}, or ${tool} logs ${metadata.name}`
}

function receiptText(ordered: OrderedFiring, tool: string): string {
  const { firing } = ordered
  const next = nextLooks(ordered, tool)
  return firing.status?.phase === undefined ? next : `\n${renderFiring(ordered)}\n\n${next}`
}
