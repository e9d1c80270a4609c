import { type Automation, automation } from '../api/automation.ts'
import { automationFiring } from '../api/automation-firing.ts'
import { whoAmI } from '../kube/identity.ts'
import { type BackfillChoice, chooseMissed, maxBackfill, renderLeft, renderMissed } from './backfill-choice.ts'
import { backfillKey } from './backfill-key.ts'
import { type Cluster, withCluster } from './cluster.ts'
import { readView } from './explain.ts'
import { checkNotPaused, fire, manualFiring } from './fire.ts'
import { readInstant } from './instants.ts'
import { cannotAsk, type ExitCode, exitCodes, type Io, refusal } from './io.ts'
import type { GlobalOptions } from './options.ts'
import { print } from './output.ts'
import { isSettled } from './receipt.ts'
import type { ScheduleView } from './schedule-view.ts'

export interface BackfillOptions extends GlobalOptions {
  readonly from: string
  readonly to: string
  readonly dryRun?: boolean
  readonly unrecorded?: boolean
  readonly yes?: boolean
}

/** More firings than these are made only with --yes. */
const unaskedFirings = 10
const pauseMillis = 400

/**
 * `backfill NAME --from T --to T`: makes up for missed occurrences by firings made by hand, one for each, which enter by
 * the schedule's trigger. Repeating it makes none twice: the occurrence is the idempotency key.
 */
export async function backfillCommand(name: string, options: BackfillOptions, io: Io): Promise<ExitCode> {
  const now = io.clock.now()
  const from = readInstant('--from', options.from, now)
  const to = readInstant('--to', options.to, now)
  if (from > to) throw cannotAsk('usage', `--from ${options.from} is later than --to ${options.to}`)
  return withCluster(options, async (cluster) => {
    const view = await readView(name, cluster, now)
    const choice = chooseMissed(view, { from, to, unrecorded: options.unrecorded === true })
    const dryRun = options.dryRun === true
    if (!dryRun) checkBackfill(view.automation as Automation, choice, options, io)
    const firings = dryRun ? new Map<string, string>() : await fireAll(view, choice, cluster, io)
    print(io, options, backfillData(name, dryRun, choice, firings), () =>
      renderBackfill(name, dryRun, choice, firings, io),
    )
    return exitCodes.ok
  })
}

/** Asks for what could surprise: many firings, and an Automation that would refuse each of them. */
function checkBackfill(target: Automation, { missed }: BackfillChoice, options: BackfillOptions, io: Io): void {
  if (missed.length === 0) return
  checkNotPaused(target, io.invocation)
  const { metadata, status } = target
  const readiness = status?.readiness ?? []
  if (readiness.length > 0) {
    const listed = readiness.map(({ message }) => message).join(' ')
    throw refusal('not_ready', `Automation ${metadata.name} is not ready, and each firing would fail: ${listed}`)
  }
  if (missed.length > maxBackfill) {
    throw cannotAsk(
      'usage',
      `${missed.length} occurrences were missed, at most ${maxBackfill} are made up for at once: choose a shorter time`,
    )
  }
  if (missed.length > unaskedFirings && options.yes !== true) {
    throw cannotAsk(
      'usage',
      `this makes ${missed.length} firings: look at them by --dry-run, then repeat it with --yes`,
    )
  }
}

/** Makes the firings, oldest first; returns their names by occurrence. */
async function fireAll(
  { automation: target, schedule }: ScheduleView,
  { missed }: BackfillChoice,
  cluster: Cluster,
  io: Io,
): Promise<Map<string, string>> {
  const made = new Map<string, string>()
  if (missed.length === 0 || schedule.kind === 'none') return made
  const user = await whoAmI(cluster.client)
  const oneByOne = (target.spec.concurrencyPolicy ?? 'Allow') !== 'Allow'
  for (const { occurrence } of missed) {
    if (oneByOne) await waitUntilIdle(target as Automation, [...made.values()].at(-1), cluster, io)
    const request = manualFiring(target as Automation, {
      user,
      entry: schedule.trigger.id,
      idempotencyKey: backfillKey.keyOf(occurrence),
      event: { occurrence },
    })
    const { firing } = await fire(request, cluster)
    made.set(occurrence, firing.metadata.name)
  }
  return made
}

/** Under `Forbid` and `Replace` a second firing would end one of the two: each waits until nothing is under way. */
async function waitUntilIdle(
  { metadata }: Automation,
  last: string | undefined,
  { client, namespace }: Cluster,
  io: Io,
): Promise<void> {
  let told = false
  for (;;) {
    const [target, previous] = await Promise.all([
      client.get(automation, { name: metadata.name, namespace }),
      last === undefined ? undefined : client.find(automationFiring, { name: last, namespace }),
    ])
    checkNotPaused(target, io.invocation)
    const isIdle = (target.status?.active ?? []).length === 0 && (previous === undefined || isSettled(previous))
    if (isIdle) return
    if (!told) io.err(`waiting until ${last ?? 'what is under way'} has settled, as concurrencyPolicy demands\n`)
    told = true
    await io.clock.sleep(pauseMillis, io.signal)
  }
}

function backfillData(
  name: string,
  dryRun: boolean,
  { missed, left }: BackfillChoice,
  firings: ReadonlyMap<string, string>,
): object {
  const items = missed.map(({ occurrence, answer, summary, why }) => ({
    occurrence,
    answer,
    summary,
    why,
    firing: firings.get(occurrence) ?? null,
  }))
  return { kind: 'backfill', automation: name, dryRun, items, left }
}

function renderBackfill(
  name: string,
  dryRun: boolean,
  choice: BackfillChoice,
  firings: ReadonlyMap<string, string>,
  io: Io,
): string {
  const count = choice.missed.length
  const left = renderLeft(choice)
  if (count === 0) return `Nothing to make up for.\n${left}`
  const what = `${count} missed ${count === 1 ? 'occurrence' : 'occurrences'} of ${name}`
  const head = dryRun ? `Would make up for ${what}; nothing was made.` : `Made up for ${what}.`
  const next = dryRun ? '' : `\n\nNext: ${io.invocation} runs ${name}`
  return `${head}\n\n${renderMissed(choice, firings)}\n${left === '' ? '' : `\n${left}`}${next}`
}
