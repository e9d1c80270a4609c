/** `metav1.Time`: RFC 3339 in UTC, to the second. */
export function secondsTime(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`
}
