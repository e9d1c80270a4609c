import { z } from 'zod'
import { digestField, instant, messageField, objectName } from './fields.ts'

/** What an Automation knows of its failures, and the pause that they make. */

/** How many failures in a row are kept. More change neither the pause nor how long a probe is waited for. */
export const keptFailures = 8

const failure = z.strictObject({
  firing: objectName('Name of the firing.'),
  at: instant('When it settled.'),
  reason: z.string().max(128).describe('Reason it gave, in CamelCase.'),
})
export type Failure = z.infer<typeof failure>

export const failures = z.strictObject({
  clearedAt: instant(
    'Failures up to here no longer count: a success, a resume or a change came after them.',
  ).optional(),
  ranByHandAt: instant('When a firing by hand last succeeded. Failures up to here pause nothing.').optional(),
  row: z
    .array(failure)
    .max(keptFailures)
    .optional()
    .describe('The newest failures in a row, oldest first, each firing once. Firings by hand do not count.'),
  subject: digestField('Digest of what failed: the spec and the version of the Agent.').optional(),
  resumeSeen: z.string().max(256).describe('The request to resume that was answered last.').optional(),
})
export type Failures = z.infer<typeof failures>

/** Classes of the failures that can pause an Automation. */
export const pauseClasses = ['Connection', 'Transient', 'Runtime'] as const

export const pause = z.strictObject({
  reason: z.string().max(128).describe('Reason of the failure, in CamelCase.'),
  message: messageField('What failed, in its own words.'),
  class: z.enum(pauseClasses).describe('Transient: tried again from time to time. The others wait for people.'),
  since: instant('When the failure settled that brought it to the pause.'),
  streak: z
    .int()
    .min(1)
    .max(keptFailures)
    .describe('Failures in a row; from the largest number on they are not counted.'),
  firing: objectName('Name of the firing that failed last.'),
  nextProbe: instant('The first occurrence from then on is let through, to see whether the cause is gone.').optional(),
  notice: z
    .enum(['Sent', 'NotTaken'])
    .optional()
    .describe('What became of the notice to the address that the operator was installed with, if there is one.'),
})
export type Pause = z.infer<typeof pause>
