/**
 * What must have come of a schedule, computed by arithmetic alone: nothing of the product takes part, so that an error in
 * it is not made twice.
 */

const minute = 60_000

/** An Automation that is due at every minute that `step` divides, in UTC. */
export interface Subject {
  readonly name: string
  readonly step: 1 | 2
  readonly policy: 'All' | 'Latest' | 'None'
  /** What was due up to then is not due. */
  readonly createdAt: string
}

/** What was seen of a firing in all its life. */
export interface SeenFiring {
  readonly uid: string
  readonly occurrence: string
  /** Time of the common clock at which it was first seen, milliseconds since 1970. */
  readonly seenAt: number
  readonly phase: string | undefined
  readonly reason: string | undefined
  /** True where it was allowed to begin, at any time. */
  readonly wasAdmitted: boolean
}

/** What the status of an Automation said at any time about occurrences that did not start. */
export interface SeenSkip {
  readonly reason: string
  readonly count: number
  readonly first: string
  readonly last: string
}

/** Every due occurrence up to and at an instant, oldest first. */
export function dueUntil({ step, createdAt }: Subject, until: number): string[] {
  const instants: string[] = []
  for (let at = Math.floor(Date.parse(createdAt) / minute) * minute + minute; at <= until; at += minute) {
    if ((at / minute) % step === 0) instants.push(new Date(at).toISOString())
  }
  return instants
}

const skipReasons = { All: [], Latest: ['Superseded'], None: ['MissedPolicyNone'] } as const

/**
 * Everything that is wrong with what was seen of a schedule; empty where all is well. Each due occurrence has fired or is
 * counted as skipped, never both, never twice; nothing else has fired; with `All` nothing is skipped. Of several firings
 * for one occurrence all but one have ended without having begun, because the occurrence had been decided.
 */
export function problemsOf(
  subject: Subject,
  until: number,
  firings: readonly SeenFiring[],
  skips: readonly SeenSkip[],
): string[] {
  const due = dueUntil(subject, until)
  const effective = firings.filter(({ reason }) => reason !== 'AlreadyFired')
  const fired = new Set(effective.map(({ occurrence }) => occurrence))
  const inside = due.map((occurrence) => ({
    occurrence,
    skips: skips.filter(({ first, last }) => occurrence >= first && occurrence <= last),
  }))
  const problems = [
    ...firings.flatMap((firing) => problemsOfFiring(firing, due)),
    ...repeated(effective.map(({ occurrence }) => occurrence)).map((one) => `${one} ran twice`),
    ...inside.filter(({ skips }) => skips.length > 1).map(({ occurrence }) => `${occurrence} is skipped twice`),
    ...inside
      .filter(({ occurrence, skips }) => skips.length === 0 && !fired.has(occurrence))
      .map(({ occurrence }) => `${occurrence} is lost`),
    ...skips.flatMap((skip) => problemsOfSkip(skip, subject, due, fired)),
  ]
  return problems.map((problem) => `${subject.name} (${subject.policy}): ${problem}`)
}

function problemsOfFiring({ occurrence, seenAt, phase, reason, wasAdmitted }: SeenFiring, due: readonly string[]) {
  const problems: string[] = []
  if (!due.includes(occurrence)) problems.push(`${occurrence} was not due`)
  if (seenAt < Date.parse(occurrence)) problems.push(`${occurrence} was early: ${new Date(seenAt).toISOString()}`)
  if (reason === 'AlreadyFired' && (phase !== 'Skipped' || wasAdmitted)) problems.push(`${occurrence} began again`)
  const isLawful = (phase === 'Succeeded' && wasAdmitted) || (phase === 'Skipped' && reason !== undefined)
  if (!isLawful) problems.push(`${occurrence} ended ${phase} ${reason}`)
  return problems
}

function problemsOfSkip(
  { reason, count, first, last }: SeenSkip,
  { policy }: Subject,
  due: readonly string[],
  fired: ReadonlySet<string>,
): string[] {
  const problems: string[] = []
  const skipped = due.filter((one) => one >= first && one <= last && !fired.has(one))
  if (skipped.length !== count) problems.push(`${count} from ${first} to ${last} are skipped, not ${skipped.length}`)
  if (!due.includes(first) || !due.includes(last)) problems.push(`skips from ${first} to ${last} were not due`)
  if (!(skipReasons[policy] as readonly string[]).includes(reason)) problems.push(`${first} is skipped: ${reason}`)
  return problems
}

function repeated(list: readonly string[]): string[] {
  return list.filter((one, index) => list.indexOf(one) !== index)
}
