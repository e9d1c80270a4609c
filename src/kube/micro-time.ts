/**
 * `metav1.MicroTime` as the API server demands it: RFC 3339 in UTC with exactly six fractional digits. It answers 400
 * to three digits or none, which is what `Date` gives.
 */
export function microTime(date: Date): string {
  return `${date.toISOString().slice(0, -1)}000Z`
}
