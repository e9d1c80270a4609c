/** The text, at most `length` characters of it; where some are cut, the last one is an ellipsis. */
export function shorten(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`
}

/** The text, at most `bytes` of UTF-8 of it; where some are cut, it ends with an ellipsis. */
export function shortenToBytes(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text
  const room = bytes - Buffer.byteLength('…')
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(room))
  return `${text.slice(0, read)}…`
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
