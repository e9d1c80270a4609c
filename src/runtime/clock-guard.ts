import { hostname } from 'node:os'
import type { EventRecorder } from '../kube/events.ts'
import type { ObjectRef } from '../lib/object.ts'
import type { Clock } from './clock.ts'
import { GuardedClock, type Skew } from './guarded-clock.ts'
import type { Logger } from './log.ts'
import type { Metrics, Sample } from './metrics.ts'

export interface ClockGuardOptions {
  readonly machine: Clock
  readonly log: Logger
  readonly metrics: Metrics
  /** Where it is told that the clock is off, and about what: the Lease, which all managers share. */
  readonly record: EventRecorder['record']
  readonly regarding: () => ObjectRef | undefined
}

const offsetHelp = "How far the API server's clock is ahead of this machine's."
const correctedHelp = "1 while schedules go by the API server's time, because this machine's is too far off."

/** The clock of a manager, which says once when the machine's is too far off, and once when it is right again. */
export function guardClock({ machine, log, metrics, record, regarding }: ClockGuardOptions): GuardedClock {
  const clock = new GuardedClock(machine, (isCorrecting, skew) => {
    const fields = { offsetSeconds: nearestSeconds(skew) }
    if (isCorrecting) log.warn(fields, "the machine's clock is off, the API server's is gone by")
    else log.info(fields, "the machine's clock is right again")
    const about = regarding()
    if (about !== undefined) record(about, isCorrecting ? skewed(skew) : right)
  })
  metrics.watch('graphwright_clock_offset_seconds', offsetHelp, [], () => offsets(clock.skew))
  metrics.watch('graphwright_clock_corrected', correctedHelp, [], () => [{ value: clock.isCorrecting ? 1 : 0 }])
  return clock
}

/** In seconds; nothing before the first answer. */
function offsets(skew: Skew | undefined): readonly Sample[] {
  return skew === undefined ? [] : [{ value: (skew.low + skew.high) / 2000 }]
}

function skewed(skew: Skew) {
  const seconds = nearestSeconds(skew)
  const off = `at least ${Math.abs(seconds)} s ${seconds > 0 ? 'behind' : 'ahead of'} the API server's`
  const note =
    `The clock of the machine that ${hostname()} runs on is ${off}. Schedules go by the API server's time until that is ` +
    'mended: see whether the machine keeps its time with a time server.'
  return { type: 'Warning', reason: 'ClockSkewed', note, action: 'Schedule' } as const
}

const right = {
  type: 'Normal',
  reason: 'ClockCorrected',
  note: `The clock of the machine that ${hostname()} runs on is right again.`,
  action: 'Schedule',
} as const

/** What the difference is at least, in seconds; positive where the server is ahead. */
function nearestSeconds({ low, high }: Skew): number {
  const nearest = low > 0 ? low : high < 0 ? high : 0
  return Math.round(nearest / 100) / 10
}
