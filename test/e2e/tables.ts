/** One row of what `kubectl get` prints, by column. */
export type Row = Readonly<Record<string, string>>

/** The tables of `kubectl get`, by the part of NAME before the slash, or `` where there is none. */
export function parseTables(text: string): Map<string, Row[]> {
  const tables = new Map<string, Row[]>()
  for (const block of text.split(/\n\s*\n/)) {
    const [header = '', ...lines] = block.split('\n').filter((line) => line !== '')
    const columns = [...header.matchAll(/\S+(?: \S+)*/g)].map(({ 0: name, index }) => ({ name, index }))
    const rows = lines.map((line) => rowOf(line, columns))
    const [kind = '', name] = (rows[0]?.NAME ?? '').split('/')
    tables.set(name === undefined ? '' : (kind.split('.')[0] ?? ''), rows)
  }
  return tables
}

/** kubectl pads every cell to the widest of its column, so that empty cells stay apart. */
function rowOf(line: string, columns: readonly { readonly name: string; readonly index: number }[]): Row {
  const cells = columns.map(({ name, index }, at) => [name, line.slice(index, columns[at + 1]?.index).trim()])
  return Object.fromEntries(cells)
}
