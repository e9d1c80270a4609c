const instant = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?([Zz]|[+-]\d{2}:\d{2})$/

/**
 * A date and time with an explicit offset (RFC 3339; seconds may be left out) as the same instant in UTC with
 * milliseconds, or undefined where the text is none or names a date that does not exist. Digits beyond the
 * millisecond are cut.
 */
export function normaliseInstant(text: string): string | undefined {
  const match = instant.exec(text)
  if (match === null) return undefined
  const [, year, month, day, hour, minute, second = '00', fraction = '', offset = 'Z'] = match
  const wall = `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.padEnd(3, '0').slice(0, 3)}`
  const asUtc = new Date(`${wall}Z`)
  // A day that a month does not have rolls over into the next: only what comes back unchanged exists.
  if (Number.isNaN(asUtc.getTime()) || asUtc.toISOString() !== `${wall}Z`) return undefined
  const minutes = offsetMinutes(offset)
  if (minutes === undefined) return undefined
  const utc = new Date(asUtc.getTime() - minutes * 60_000)
  return utc.getUTCFullYear() >= 0 && utc.getUTCFullYear() <= 9999 ? utc.toISOString() : undefined
}

function offsetMinutes(offset: string): number | undefined {
  if (offset.toUpperCase() === 'Z') return 0
  const hours = Number(offset.slice(1, 3))
  const minutes = Number(offset.slice(4, 6))
  if (hours > 23 || minutes > 59) return undefined
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes)
}
