import { type Automation, automation } from '../api/automation.ts'
import { annotations } from '../api/labels.ts'
import type { JsonObject } from '../lib/json.ts'
import { changeAsSeen } from './change.ts'
import { type Cluster, getNamed, withCluster } from './cluster.ts'
import { type ExitCode, exitCodes, type Io, refusal } from './io.ts'
import type { GlobalOptions } from './options.ts'
import { print } from './output.ts'

/** How long the operator may take to check what was changed a moment ago. */
const patienceMillis = 5_000
const pauseMillis = 200

/** `pause NAME`: nothing new starts, from any source (A-167). Steps under way go on to their end (A-170). */
export async function pauseCommand(name: string, options: GlobalOptions, io: Io): Promise<ExitCode> {
  return withCluster(options, async (cluster) => {
    const seen = await getNamed(cluster, automation, name)
    const paused = await changeAsSeen(cluster, automation, seen, ({ spec }) =>
      spec.paused === true ? undefined : { spec: { paused: true } },
    )
    const changed = seen.spec.paused !== true
    print(io, options, pauseData('paused', paused, changed), () => renderPause(paused, changed, io.invocation))
    return exitCodes.ok
  })
}

/** `resume NAME`: lifts a pause of people and one of its own. Changes nothing while a check fails (A-150). */
export async function resumeCommand(name: string, options: GlobalOptions, io: Io): Promise<ExitCode> {
  return withCluster(options, async (cluster) => {
    const seen = await checkedAutomation(name, cluster, io)
    const resumed = await changeAsSeen(cluster, automation, seen, (live) => resumePatch(live, io.clock.now()))
    const changed = isPaused(seen)
    print(io, options, pauseData('resumed', resumed, changed), () => renderResume(resumed, changed, io.invocation))
    return exitCodes.ok
  })
}

/** True for a pause of people, and for one that the Automation made itself. */
function isPaused({ spec, status }: Automation): boolean {
  return spec.paused === true || status?.state === 'Paused'
}

/** The Automation, once the operator has checked it as it is written now. Never checked counts as not ready (A-151). */
async function checkedAutomation(name: string, cluster: Cluster, io: Io): Promise<Automation> {
  const deadline = io.clock.monotonic() + patienceMillis
  for (;;) {
    const found = await getNamed(cluster, automation, name)
    if (!isPaused(found) || found.status?.observedGeneration === found.metadata.generation) return found
    if (io.clock.monotonic() >= deadline) {
      throw refusal(
        'not_ready',
        `Automation ${name} stays paused: whether it is ready is not known, because the operator has not looked at it as it is now; is the operator running?`,
      )
    }
    await io.clock.sleep(pauseMillis, io.signal)
  }
}

/**
 * What resumes an Automation; undefined where it is not paused. `paused` becomes false instead of going away: then the
 * API server keeps the time of the change, and what was due before it does not start in hindsight.
 */
export function resumePatch(live: Automation, now: Date): JsonObject | undefined {
  if (!isPaused(live)) return undefined
  const { metadata, spec, status } = live
  const entries = status?.readiness ?? []
  if (entries.length > 0) {
    const listed = entries.map(({ message }) => message).join(' ')
    throw refusal('not_ready', `Automation ${metadata.name} stays paused, it is not ready: ${listed}`)
  }
  return {
    metadata: { annotations: { [annotations.resumeRequested]: now.toISOString() } },
    ...(spec.paused === true && { spec: { paused: false } }),
  }
}

function pauseData(kind: 'paused' | 'resumed', { metadata, status }: Automation, changed: boolean): object {
  const active = status?.active ?? []
  return {
    kind,
    automation: metadata.name,
    namespace: metadata.namespace,
    changed,
    active: active.map(({ name }) => name),
  }
}

/** What a pause means now, for people. */
export function renderPause({ metadata, status }: Automation, changed: boolean, invocation: string): string {
  const { name } = metadata
  const active = status?.active?.length ?? 0
  const goesOn =
    active === 0
      ? ''
      : active === 1
        ? ' 1 firing is under way: its present steps go on.'
        : ` ${active} firings are under way: their present steps go on.`
  const head = changed ? `Automation ${name} is paused: nothing new starts.` : `Automation ${name} is paused already.`
  return `${head}${goesOn}\nNext: ${invocation} resume ${name}`
}

/** What resuming means now, for people. */
export function renderResume({ metadata, spec }: Automation, changed: boolean, invocation: string): string {
  const { name } = metadata
  if (!changed) return `Automation ${name} is not paused: nothing was changed.`
  const isRecurring = spec.triggers.some(({ kind }) => kind === 'schedule')
  const missed = `What was due meanwhile does not start by itself. To see what can be made up for: ${invocation} backfill ${name} --from TIME --to now --dry-run`
  return `Automation ${name} is resumed.${isRecurring ? ` ${missed}` : ''}\nNext: ${invocation} next ${name}`
}
