import { dump } from 'js-yaml'
import { printable } from '../lib/text.ts'
import type { Io } from './io.ts'
import { formatOf, type GlobalOptions } from './options.ts'

/** Prints a result: as data where a format is asked for, else as text for people. */
export function print(io: Io, options: GlobalOptions, data: unknown, text: () => string): void {
  const format = formatOf(options)
  if (format === undefined) io.out(`${printable(text().trimEnd())}\n`)
  else io.out(format === 'json' ? `${JSON.stringify(data, null, 2)}\n` : dump(data, { noRefs: true, lineWidth: -1 }))
}
