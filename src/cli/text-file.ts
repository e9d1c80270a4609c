import { CliError, cannotAsk, type Io } from './io.ts'

/** The text of a file that an option names; `-` is standard input. */
export async function readText(path: string, io: Io): Promise<string> {
  try {
    return await io.readFile(path)
  } catch (cause) {
    if (cause instanceof CliError) throw cause
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unreadable'
    if (reason === 'EISDIR') throw cannotAsk('unreadable', `${path} is a folder: name the file of a graph`, cause)
    throw cannotAsk('unreadable', `cannot read ${path} (${reason}): check the path`, cause)
  }
}
