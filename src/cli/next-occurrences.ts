import type { Automation } from '../api/automation.ts'
import type { Policies } from '../api/automation-policies.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import type { Schedule } from '../schedule/cron.ts'
import { describeTrigger } from '../schedule/describe.ts'
import { type DstMark, dstMark } from '../schedule/dst.ts'
import { startOf } from '../schedule/jitter.ts'
import { countOccurrences, latestOccurrence, occurrencesBetween } from '../schedule/occurrence.ts'
import { noPendingOccurrence } from '../schedule/once.ts'
import { shownInUtc, shownLocally } from './instants.ts'
import { policiesText } from './policies-text.ts'
import { table } from './table.ts'
import { scheduleOf, type TriggerSchedule, zoneOf } from './trigger-schedule.ts'

/** What occurrences are asked for. */
export interface NextQuestion {
  readonly now: Date
  /** First instant that counts; absent: what has not started yet. */
  readonly from?: Date | undefined
  /** Last instant that counts. */
  readonly to?: Date | undefined
  /** Occurrences at most. */
  readonly count: number
}

/** Whose occurrences: an Automation of the cluster, or the triggers of a graph in a file. */
export interface NextSubject {
  readonly name: string
  readonly triggers: DeepReadonly<Automation['spec']['triggers']>
  readonly policies: DeepReadonly<Pick<Policies, 'jitterSeconds' | 'missedOccurrences'>>
  /** Absent for a graph of a file: it has no state, and the starts that jitter gives depend on the Automation's UID. */
  readonly live?: DeepReadonly<Automation> | undefined
}

export interface NextOccurrence {
  /** The nominal instant in UTC, with milliseconds: the identity of the occurrence. */
  readonly occurrence: string
  /** What a clock in the zone of the trigger shows. */
  readonly local: string
  readonly dst: DstMark | null
  /** When it starts, jitter included; null where the jitter is not known yet. */
  readonly startAt: string | null
}

/** The answer of `next`, as it is printed as data. */
export interface NextAnswer {
  readonly name: string
  /** The schedule in words; null where there is none. */
  readonly schedule: string | null
  readonly timezone: string
  readonly occurrences: readonly NextOccurrence[]
  /** How many more there are until `to`; null where no end was given. */
  readonly more: number | null
  readonly jitterSeconds: number
  /** What becomes of those that are missed; null where the default holds. */
  readonly missedOccurrences: DeepReadonly<Policies>['missedOccurrences'] | null
  /** What keeps them from starting, each in a sentence. */
  readonly held: readonly string[]
}

const endOfTime = new Date('9999-12-31T23:59:59.999Z')

/** Lists what is to come. Pure. */
export function nextOccurrences(subject: NextSubject, question: NextQuestion): NextAnswer {
  const found = scheduleOf(subject.triggers)
  const jitterSeconds = found.kind === 'recurring' ? (subject.policies.jitterSeconds ?? 0) : 0
  return {
    name: subject.name,
    schedule: found.kind === 'none' ? null : describeTrigger(found.trigger),
    timezone: zoneOf(found),
    ...listed(subject, found, question, jitterSeconds),
    jitterSeconds,
    missedOccurrences: (found.kind === 'none' ? undefined : subject.policies.missedOccurrences) ?? null,
    held: heldBy(subject, found),
  }
}

type Listed = Pick<NextAnswer, 'occurrences' | 'more'>

function listed(subject: NextSubject, found: TriggerSchedule, question: NextQuestion, jitterSeconds: number): Listed {
  switch (found.kind) {
    case 'recurring':
      return recurring(subject, found.schedule, question, jitterSeconds)
    case 'once':
      return { occurrences: once(subject, found.at, question), more: question.to === undefined ? null : 0 }
    case 'invalid':
    case 'none':
      return { occurrences: [], more: null }
  }
}

function recurring(
  { live }: NextSubject,
  schedule: Schedule,
  { now, from, to, count }: NextQuestion,
  jitterSeconds: number,
): Listed {
  const identity = live?.metadata.uid ?? ''
  const start = (occurrence: Date) => startOf(schedule, occurrence, jitterSeconds, identity)
  const waiting = latestOccurrence(schedule, new Date(now.getTime() - jitterSeconds * 1000), before(now))
  // An occurrence may be past and its jitter still to come: at most one, since starts never overtake occurrences.
  const isWaiting = waiting !== undefined && start(waiting).toISOString() === live?.status?.schedule?.next
  const first = from ?? (isWaiting ? waiting : now)
  const wanted = occurrencesBetween(schedule, before(first), to ?? endOfTime, count)
  const last = wanted.at(-1)
  return {
    occurrences: wanted.map((occurrence) => ({
      ...shown(schedule.timezone, occurrence),
      dst: dstMark(schedule, occurrence) ?? null,
      startAt: live === undefined && jitterSeconds > 0 ? null : start(occurrence).toISOString(),
    })),
    more: to === undefined ? null : last === undefined ? 0 : countOccurrences(schedule, last, to),
  }
}

/** The date, unless it was consumed or had passed when it was chosen. */
function once({ live }: NextSubject, at: Date, { now, from, to }: NextQuestion): NextOccurrence[] {
  const seen = live?.status?.schedule?.once
  // Without a record, as in a file, a date that has passed is none to come.
  const isPending = seen?.at === at.toISOString() ? seen.phase === 'Pending' : at > now
  const isAsked = (from === undefined || at >= from) && (to === undefined || at <= to)
  if (!isPending || !isAsked) return []
  return [{ ...shown('UTC', at), dst: null, startAt: at.toISOString() }]
}

function shown(timezone: string, occurrence: Date) {
  return { occurrence: occurrence.toISOString(), local: shownLocally(timezone, occurrence) }
}

/** Why none of them would start as things are. */
function heldBy({ name, live }: NextSubject, found: TriggerSchedule): string[] {
  if (found.kind === 'none') return [`${name} has no schedule: it starts when it is fired.`]
  if (found.kind === 'invalid') return [`The schedule of ${name} cannot be read: ${found.error}.`]
  if (live === undefined) return []
  const { spec, status } = live
  if (spec.paused === true) return [`${name} is paused: none of these starts before it is resumed.`]
  if (status?.state === 'Paused') return [`${name} has paused itself: none of these starts before the pause is lifted.`]
  return (status?.readiness ?? []).map(({ message }) => `${name} is not ready: ${message}`)
}

function before(instant: Date): Date {
  return new Date(instant.getTime() - 1)
}

/** The answer for people. */
export function renderNext(answer: NextAnswer): string {
  const { name, schedule, occurrences, more, held } = answer
  const head = schedule === null ? name : `${name}   ${schedule}`
  const rest = more === null || more === 0 ? [] : [`and ${more} more`]
  const list = occurrences.length === 0 ? [noPendingOccurrence] : [occurrenceTable(answer), ...rest]
  return [head, ...held, ...policyLines(answer), '', ...list].join('\n')
}

function policyLines({ occurrences, jitterSeconds, missedOccurrences }: NextAnswer): string[] {
  const isUnknown = occurrences.some(({ startAt }) => startAt === null)
  return [
    ...(isUnknown
      ? [`Each starts less than ${jitterSeconds} s later: how much is known once the Automation exists.`]
      : []),
    ...(missedOccurrences === null ? [] : [`Policies: ${policiesText({ missedOccurrences })}`]),
  ]
}

function occurrenceTable({ occurrences, timezone, jitterSeconds }: NextAnswer): string {
  const withJitter = jitterSeconds > 0 && occurrences.every(({ startAt }) => startAt !== null)
  const withDst = occurrences.some(({ dst }) => dst !== null)
  const header = [`LOCAL (${timezone})`, 'UTC', ...(withJitter ? ['STARTS'] : []), ...(withDst ? ['CLOCK CHANGE'] : [])]
  const rows = occurrences.map(({ occurrence, local, startAt, dst }) => [
    local,
    shownInUtc(new Date(occurrence)),
    ...(withJitter && startAt !== null ? [shownInUtc(new Date(startAt))] : []),
    ...(withDst ? [dst ?? ''] : []),
  ])
  return table(header, rows)
}
