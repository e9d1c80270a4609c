/** The text, at most `length` characters of it; where some are cut, the last one is an ellipsis. */
export function shorten(text: string, length: number): string {
  return text.length <= length ? text : `${beginningOf(text, length - 1)}…`
}

/**
 * The first characters of a text, at most `length`. Never half of one that is written as two (a surrogate pair): the API
 * server refuses to apply such a text, and stores another in its place where it is written in other ways.
 */
export function beginningOf(text: string, length: number): string {
  const isBetweenHalves = /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(length - 1, length + 1))
  return text.slice(0, isBetweenHalves ? length - 1 : length)
}

/** The text, at most `bytes` of UTF-8 of it; where some are cut, it ends with an ellipsis. */
export function shortenToBytes(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text
  const room = bytes - Buffer.byteLength('…')
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(room))
  return `${text.slice(0, read)}…`
}

/** The text as a sentence that another can follow: with a full stop, unless it ends with one or with `?`, `!` or `…`. */
export function sentence(text: string): string {
  return /[.?!…]$/.test(text) ? text : `${text}.`
}

/** Order of texts by UTF-16 code unit, the same on every machine. For `sort`. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** What moves a cursor, colours, rings or reverses a line: control characters but tab and line feed, and bidi overrides. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const unprintable = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** The text as a terminal may show it, whoever wrote it: what would act on the terminal stands there escaped. */
export function printable(text: string): string {
  return text.replace(unprintable, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** The candidate that a mistyped word was probably meant to be: at most two letters apart, and fewer than half of them. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const allowed = Math.min(2, Math.floor((word.length - 1) / 2))
  const ranked = candidates
    .filter((candidate) => Math.abs(candidate.length - word.length) <= allowed)
    .map((candidate) => ({ candidate, distance: editDistance(word, candidate) }))
    .filter(({ distance }) => distance <= allowed)
  return ranked.sort((a, b) => a.distance - b.distance)[0]?.candidate
}

/** Letters that must be added, removed or replaced to make one text of the other (Levenshtein). */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1)
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[b.length] ?? 0
}
