import { type Automation, automation } from '../api/automation.ts'
import { type AutomationFiring, automationFiring } from '../api/automation-firing.ts'
import { labels } from '../api/labels.ts'
import type { Schedule } from '../schedule/cron.ts'
import { describeTrigger } from '../schedule/describe.ts'
import { latestOccurrence, nextOccurrence } from '../schedule/occurrence.ts'
import { type Cluster, getNamed, withCluster } from './cluster.ts'
import { type Explanation, explainOccurrence } from './explain-occurrence.ts'
import { holdOf } from './hold.ts'
import { readOptionalInstant, shownInUtc, shownLocally } from './instants.ts'
import { cannotAsk, type ExitCode, exitCodes, type Io } from './io.ts'
import type { GlobalOptions } from './options.ts'
import { print } from './output.ts'
import { type ScheduleView, viewOf } from './schedule-view.ts'
import { fields } from './table.ts'
import { zoneOf } from './trigger-schedule.ts'

export interface ExplainOptions extends GlobalOptions {
  readonly at?: string
}

/** `explain NAME [--at T]`: why an occurrence ran or did not, from what is recorded. Nothing is changed. */
export async function explainCommand(name: string, options: ExplainOptions, io: Io): Promise<ExitCode> {
  const now = io.clock.now()
  const at = readOptionalInstant('--at', options.at, now)
  return withCluster(options, async (cluster) => {
    const account = explainAt(await readView(name, cluster, now), at)
    print(io, options, account, () => renderAccount(account))
    return exitCodes.ok
  })
}

/** The Automation, with the firings that say what became of its occurrences. */
export async function readView(name: string, cluster: Cluster, now: Date): Promise<ScheduleView> {
  const found = await getNamed(cluster, automation, name)
  return viewOf(found, await firingsOf(found, cluster), now)
}

async function firingsOf({ metadata }: Automation, { client, namespace }: Cluster): Promise<AutomationFiring[]> {
  const { items } = await client.list(automationFiring, {
    namespace,
    labelSelector: `${labels.automation}=${metadata.name}`,
  })
  return items
}

/** The answer of `explain`, as it is printed as data. */
export interface Account {
  readonly automation: string
  readonly schedule: string
  readonly timezone: string
  readonly state: string | null
  /** The instant that was asked about; null: the last occurrence that was due. */
  readonly at: string | null
  /** False where nothing was due then: the explanation is that of the occurrence before. */
  readonly due: boolean
  /** Why nothing starts now; null where nothing stands in the way. */
  readonly held: string | null
  /** null where there is no such occurrence. */
  readonly explanation: Explanation | null
  /** The first occurrence after the present, or after the instant at which nothing was due; null where there is none. */
  readonly next: string | null
}

/** Starts of cron are full minutes: whoever asks about a second of the minute asks about its occurrence. */
const minuteMillis = 60_000

/** Explains the occurrence at an instant, or the last one that was due. Pure. */
export function explainAt(view: ScheduleView, at: Date | undefined): Account {
  const { automation: of, schedule } = view
  if (schedule.kind === 'none') {
    throw cannotAsk('no_schedule', `Automation ${of.metadata.name} has no schedule: it runs when it is fired by hand`)
  }
  if (schedule.kind === 'invalid')
    throw cannotAsk('no_schedule', `the schedule of ${of.metadata.name} cannot be read: ${schedule.error}`)
  return {
    automation: of.metadata.name,
    schedule: describeTrigger(schedule.trigger),
    timezone: zoneOf(schedule),
    state: of.status?.state ?? null,
    held: holdOf(of)?.why ?? null,
    at: at?.toISOString() ?? null,
    ...(schedule.kind === 'once' ? aboutDate(view, schedule.at, at) : aboutRecurring(view, schedule.schedule, at)),
  }
}

type About = Pick<Account, 'due' | 'explanation' | 'next'>

function aboutRecurring(view: ScheduleView, schedule: Schedule, at: Date | undefined): About {
  const until = at ?? view.now
  const last = latestOccurrence(schedule, new Date(0), until)
  const due = last !== undefined && (at === undefined || until.getTime() - last.getTime() < minuteMillis)
  const next = nextOccurrence(schedule, due ? view.now : until)
  return {
    due,
    explanation: last === undefined ? null : explainOccurrence(view, last),
    next: next?.toISOString() ?? null,
  }
}

function aboutDate(view: ScheduleView, date: Date, at: Date | undefined): About {
  const distance = at === undefined ? 0 : at.getTime() - date.getTime()
  const explained = explainOccurrence(view, date)
  return {
    due: distance >= 0 && distance < minuteMillis,
    explanation: explained,
    next: explained.answer === 'Upcoming' ? date.toISOString() : null,
  }
}

/** The answer for people. */
export function renderAccount({
  automation: name,
  schedule,
  timezone,
  state,
  held,
  at,
  due,
  explanation,
  next,
}: Account): string {
  const shown = (instant: string) =>
    timezone === 'UTC'
      ? shownInUtc(new Date(instant))
      : `${shownLocally(timezone, new Date(instant))} (${shownInUtc(new Date(instant))})`
  const placed = due ? 'Occurrence' : (explanation?.occurrence ?? '') > (at ?? '') ? 'After that' : 'Before that'
  return fields([
    ['Automation', `${name}${state === null ? '' : `, ${state}`}`],
    ['Held', explanation?.why === held ? undefined : (held ?? undefined)],
    ['Schedule', schedule],
    ['Asked', due || at === null ? undefined : `${shown(at)}: not due then`],
    [placed, explanation === null ? undefined : shown(explanation.occurrence)],
    ['Answer', explanation?.summary],
    ['Why', explanation?.why],
    ['Next', next === null ? undefined : `${shown(next)}${held === null ? '' : ', unless this still holds it'}`],
  ])
}
