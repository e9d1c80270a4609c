import { z } from 'zod'
import type { DeepReadonly } from '../lib/readonly.ts'

/** What is kept of firings that have settled, where the Automation does not say. The counts are those of a CronJob. */
export const defaultHistory = {
  successfulLimit: 3,
  failedLimit: 1,
  skippedLimit: 1,
  detailRetentionSeconds: 3600,
} as const

/** Names are locks while the objects exist: nothing of a firing goes sooner than this after it has settled, in seconds. */
export const shortestRetentionSeconds = 600

const history = z
  .strictObject({
    successfulLimit: z
      .int()
      .min(0)
      .max(1000)
      .default(defaultHistory.successfulLimit)
      .describe('Firings that succeeded: how many of the newest are kept.'),
    failedLimit: z
      .int()
      .min(0)
      .max(1000)
      .default(defaultHistory.failedLimit)
      .describe('Firings that failed or were cancelled: how many of the newest are kept.'),
    skippedLimit: z
      .int()
      .min(0)
      .max(1000)
      .default(defaultHistory.skippedLimit)
      .describe('Firings that were skipped: how many of the newest are kept.'),
    ttlSeconds: z
      .int()
      .min(shortestRetentionSeconds)
      .max(31536000)
      .optional()
      .describe('Seconds after which a settled firing goes, also where the limits would keep it.'),
    detailRetentionSeconds: z
      .int()
      .min(shortestRetentionSeconds)
      .max(31536000)
      .default(defaultHistory.detailRetentionSeconds)
      .describe('Seconds after which the Sessions and Runs of a settled firing go. The firing keeps its outputs.'),
  })
  .describe(
    'What is kept of firings that have settled. None goes within ten minutes of that, nor within seven days where it has an idempotencyKey.',
  )

const concurrencyPolicy = z
  .enum(['Allow', 'Forbid', 'Replace'])
  .describe('What happens to an occurrence that is due while another firing is active. Default Allow.')

const missedOccurrences = z
  .strictObject({
    policy: z
      .enum(['Latest', 'All', 'None'])
      .default('Latest')
      .describe('Which of the missed occurrences are made up for.'),
    deadlineSeconds: z.int().min(1).max(2592000).optional().describe('Occurrences older than this are skipped.'),
    limit: z.int().min(1).max(100).optional().describe('All: how many are made up for at most.'),
  })
  .describe(
    'What happens to occurrences that were due while nothing could start them. Without a schedule it has no effect.',
  )

const jitterSeconds = z
  .int()
  .min(0)
  .max(3600)
  .describe(
    'Spread of scheduled starts; deterministic for each occurrence. Without a recurring schedule it has no effect.',
  )

/**
 * How firings start and what is kept of them: the same in an Automation and in the graph that owns one. Absent is what
 * the defaults say. A graph that has none of them says nothing of them, so that its digests do not depend on the defaults.
 */
export const policyFields = {
  concurrencyPolicy: concurrencyPolicy.optional(),
  missedOccurrences: missedOccurrences.optional(),
  jitterSeconds: jitterSeconds.optional(),
  history: history.optional(),
}
export type Policies = z.infer<z.ZodObject<typeof policyFields>>

const policyNames = Object.keys(policyFields) as (keyof typeof policyFields)[]

/** The policies that are set, and nothing else. */
export function policiesOf(fields: DeepReadonly<Policies>): Policies {
  return Object.fromEntries(policyNames.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])))
}
