/**
 * An RFC 3339 date and time with an explicit offset as the same instant in UTC with milliseconds, or undefined
 * where the text is none.
 */
export function normaliseInstant(_at: string): string | undefined {
  return undefined
}
