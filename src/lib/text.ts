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
