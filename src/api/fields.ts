import { z } from 'zod'

/** Schemas of fields that several kinds share. */

/** A JSON value of any type, kept as it is. */
export function anyJson(description: string): z.ZodType<unknown> {
  return z.unknown().meta({ description, 'x-kubernetes-preserve-unknown-fields': true })
}

/** A JSON object whose members are not declared here. */
export function anyObject(description: string): z.ZodType<Record<string, unknown>> {
  return z.record(z.string(), z.unknown()).meta({ description, 'x-kubernetes-preserve-unknown-fields': true })
}

/** Name of another object in the same namespace: an RFC 1123 subdomain short enough to be a label value. */
export function objectName(description: string): z.ZodString {
  return z
    .string()
    .min(1)
    .max(63)
    .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/)
    .describe(description)
}

/** `sha256:` and 64 hexadecimal digits. */
export function digestField(description: string): z.ZodString {
  return z
    .string()
    .regex(/^sha256:[0-9a-f]{64}$/)
    .describe(description)
}

/** An object's UID. */
export function uidField(description: string): z.ZodString {
  return z.string().min(1).max(64).describe(description)
}

/** A time in the past, RFC 3339. Only these may be shown by a `date` column. */
export function timeField(description: string): z.ZodString {
  return z.string().max(40).meta({ description, format: 'date-time' })
}

/** Characters of a {@link messageField}. */
export const messageLimit = 4096

/** An instant in UTC with milliseconds, past or to come; no `date` column shows it. */
export function instant(description: string): z.ZodString {
  return z.string().max(32).describe(description)
}

/** Text for people. */
export function messageField(description: string): z.ZodString {
  return z.string().max(messageLimit).describe(description)
}

/** Labels, annotations, node selectors and other short maps of texts. */
export function stringMap(description: string, maxEntries = 64): z.ZodType<Record<string, string>> {
  return z.record(z.string(), z.string().max(4096)).meta({ description, maxProperties: maxEntries })
}

const condition = z.strictObject({
  type: z.string().max(316).describe('What the condition is about, in CamelCase.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('Whether it holds.'),
  reason: z.string().min(1).max(1024).describe('Stable machine-readable cause, in CamelCase.'),
  message: z.string().max(32768).describe('The cause in words, with the next action to take.'),
  lastTransitionTime: z.string().meta({ description: 'When the status last changed.', format: 'date-time' }),
  observedGeneration: z
    .int()
    .min(0)
    .optional()
    .describe('Generation of the object that the condition was computed for.'),
})

/** `conditions` of a status, merged by type in server-side apply. */
export const conditions = z
  .array(condition)
  .max(16)
  .optional()
  .meta({
    description: 'Latest observations of the state, one per type.',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
  })

/** `observedGeneration` of a status. */
export const observedGeneration = z
  .int()
  .min(0)
  .optional()
  .describe('Generation of the object that this status was computed for.')

/**
 * A text or JSON text, either here or in the content store of the gateway under its digest.
 * A resource holds at most {@link inlineLimitBytes} of inline content in total.
 */
export const content = z.strictObject({
  inline: z.string().max(8192).optional().describe('The text itself, where it is small enough to be kept here.'),
  digest: digestField('SHA-256 digest of the UTF-8 bytes; the name of the text in the content store.'),
  size: z.int().min(0).describe('Length in bytes of UTF-8.'),
})
export type Content = z.infer<typeof content>

/** Inline content that one resource may hold in total, in bytes of UTF-8. */
export const inlineLimitBytes = 8192

/** Inline events while there is no ledger, in bytes of UTF-8. */
export const inlineEventLimitBytes = 256 * 1024
