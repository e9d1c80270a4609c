const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/**
 * A duration for people, in at most two units, cut and not rounded: `0s`, `12s`, `3m5s`, `2h10m`, `4d3h`. A part that
 * is zero is left out. Negative durations, which only clocks that disagree make, count as zero.
 */
export function formatDuration(millis: number): string {
  const duration = Math.max(0, millis)
  if (duration < minute) return `${Math.floor(duration / second)}s`
  if (duration < hour) return twoUnits(duration, minute, 'm', second, 's')
  if (duration < day) return twoUnits(duration, hour, 'h', minute, 'm')
  return twoUnits(duration, day, 'd', hour, 'h')
}

function twoUnits(duration: number, large: number, largeName: string, small: number, smallName: string): string {
  const whole = Math.floor(duration / large)
  const rest = Math.floor((duration - whole * large) / small)
  return rest === 0 ? `${whole}${largeName}` : `${whole}${largeName}${rest}${smallName}`
}

/** From one RFC 3339 time to another, for people. */
export function formatSpan(from: string, to: string): string {
  return formatDuration(Date.parse(to) - Date.parse(from))
}
