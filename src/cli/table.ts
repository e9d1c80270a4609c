/** Columns under a header, aligned by spaces; the last column is not padded. Empty cells show as a dash. */
export function table(header: readonly string[], rows: readonly (readonly (string | undefined)[])[]): string {
  const cells = [header, ...rows.map((row) => row.map((cell) => (cell === undefined || cell === '' ? '-' : cell)))]
  const widths = header.map((_, column) => Math.max(...cells.map((row) => width(row[column] ?? ''))))
  return cells
    .map((row) =>
      row
        .map((cell, column) => pad(cell, widths[column] ?? 0))
        .join('   ')
        .trimEnd(),
    )
    .join('\n')
}

/** `Label  value` lines; a pair without a value is left out. */
export function fields(pairs: readonly (readonly [string, string | undefined])[]): string {
  const shown = pairs.filter(([, value]) => value !== undefined && value !== '')
  const longest = Math.max(0, ...shown.map(([label]) => label.length))
  return shown.map(([label, value]) => `${label.padEnd(longest)}   ${value}`).join('\n')
}

/** The text with every line behind a prefix. */
export function indent(text: string, prefix = '  '): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? '' : prefix + line))
    .join('\n')
}

function pad(text: string, length: number): string {
  return text + ' '.repeat(Math.max(0, length - width(text)))
}

function width(text: string): number {
  return [...text].length
}
