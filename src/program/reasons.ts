/**
 * Reasons of step outcomes: snake_case codes, the same for every step kind. A failed Session passes its own reason on,
 * translated: `ImageUnavailable` becomes `image_unavailable`. Readers show codes they do not know unchanged.
 */
export const stepReasons = [
  /** A bound field, or one that a predicate reads, is not there. */
  'field_missing',
  /** A text is needed, and the field holds something else. */
  'field_not_text',
  /** The text to parse is not JSON, or ambiguous JSON. */
  'output_invalid_json',
  /** The parsed value breaks the schema. */
  'output_schema_mismatch',
  /** Checking against the schema took too long. */
  'schema_timeout',
  /** Checking against the schema took too much memory. */
  'schema_memory_exceeded',
  /** The schema itself cannot be used. */
  'schema_invalid',
  'schema_unsupported',
  /** The rendered message is over 64 KiB. */
  'rendered_prompt_too_large',
  /** The Session was deleted while it was needed. */
  'session_deleted',
  /** The Session was cancelled. */
  'cancelled',
  /** Nobody knows what became of the work: the step stays running, until the firing is cancelled. */
  'outcome_unknown',
  /** The Environment was deleted before the Session was created. */
  'environment_missing',
  /** The ServiceAccount was deleted, or replaced, before the Session was created. */
  'service_account_missing',
  /** Nothing of the firing has moved for more than 25 hours (N-175). */
  'automation_run_abandoned',
] as const
export type StepReason = (typeof stepReasons)[number]

const acronyms: ReadonlyMap<string, string> = new Map([['oom', 'OOM']])

/** `OOMKilled` → `oom_killed`. */
export function snakeCase(reason: string): string {
  return reason
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
}

/** `oom_killed` → `OOMKilled`: how a step's reason reads in a column or a condition. */
export function camelCase(code: string): string {
  return code
    .split('_')
    .map((word) => acronyms.get(word) ?? `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`)
    .join('')
}
