import { normaliseInstant } from '../schedule/instant.ts'

const prefix = 'backfill-'

/**
 * The idempotency key of a firing that makes up for an occurrence. It is how the firing is recognised, and why the same
 * backfill of the same user makes it once.
 */
export const backfillKey = {
  keyOf: (occurrence: string): string => prefix + occurrence,
  /** The occurrence that a firing makes up for; undefined for any other firing. */
  occurrenceOf(key: string | undefined): string | undefined {
    return key?.startsWith(prefix) ? normaliseInstant(key.slice(prefix.length)) : undefined
  },
} as const
