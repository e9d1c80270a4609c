/**
 * What is known of a server's clock from the `Date` headers of its answers. All pure; instants of ours are milliseconds
 * of a monotonic clock, so that setting the wall clock of this machine disturbs nothing.
 */

/** An answer of a server that told its time. */
export interface TimedAnswer {
  /** The `Date` header, Unix milliseconds. It is cut to the second. */
  readonly date: number
  /** When the request was sent and when the head of its answer was there. */
  readonly sentAt: number
  readonly receivedAt: number
}

/** By how much the server's wall clock is ahead of our monotonic clock: not less than `low`, not more than `high`. */
export interface OffsetBounds {
  readonly low: number
  readonly high: number
  /** Our instant as of which they hold. */
  readonly at: number
}

/** As HTTP writes a date (RFC 9110, 5.6.7): other texts that JavaScript makes a date of are none. */
const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} [1-9]\d{3} \d{2}:\d{2}:\d{2} GMT$/

/** What a `Date` header says, Unix milliseconds; undefined where it says no time that a server can have. */
export function dateOf(header: string | undefined): number | undefined {
  if (header === undefined || !httpDate.test(header)) return undefined
  const date = Date.parse(header)
  return date > 0 ? date : undefined
}

export interface ServerClock {
  /** Undefined before the first answer. */
  readonly bounds?: OffsetBounds | undefined
  /** What the last answers say that contradict the bounds, and how many of them there were. */
  readonly rival?: { readonly bounds: OffsetBounds; readonly answers: number } | undefined
}

/**
 * How fast two clocks may drift apart. NTP never lets one run faster or slower by more than 0.5 ms in a second, and there
 * are two of them.
 */
const driftPerMilli = 0.001

/** So many answers in a row that contradict what was known are believed: the server's clock was set. */
const convincing = 3

/**
 * What is known after one more answer. The server wrote the date between our sending and receiving, and its clock was less
 * than a second past it: an answer alone bounds the offset to a second and a round trip, and never wrongly. Answers that
 * come at different parts of the server's second narrow that down, to little more than the shortest round trip.
 */
export function afterAnswer({ bounds, rival }: ServerClock, answer: TimedAnswer): ServerClock {
  const seen = boundsOf(answer)
  if (bounds === undefined) return { bounds: seen }
  const agreed = agreement(bounds, seen)
  if (agreed !== undefined) return { bounds: agreed }
  // One answer may come from a machine of its own: a proxy, or another API server of the cluster.
  const joint = rival === undefined ? undefined : agreement(rival.bounds, seen)
  const challenge = { bounds: joint ?? seen, answers: joint === undefined ? 1 : (rival?.answers ?? 0) + 1 }
  return challenge.answers >= convincing ? { bounds: challenge.bounds } : { bounds, rival: challenge }
}

/** The bounds as they hold at a later instant: the longer nothing was heard, the wider. */
export function boundsAt({ low, high, at }: OffsetBounds, instant: number): OffsetBounds {
  const drift = Math.max(0, instant - at) * driftPerMilli
  return { low: low - drift, high: high + drift, at: Math.max(at, instant) }
}

function boundsOf({ date, sentAt, receivedAt }: TimedAnswer): OffsetBounds {
  return { low: date - receivedAt, high: date + 1000 - sentAt, at: receivedAt }
}

/** What both allow; undefined where they contradict each other. */
function agreement(known: OffsetBounds, seen: OffsetBounds): OffsetBounds | undefined {
  const aged = boundsAt(known, seen.at)
  const low = Math.max(aged.low, seen.low)
  const high = Math.min(aged.high, seen.high)
  return low <= high ? { low, high, at: seen.at } : undefined
}
