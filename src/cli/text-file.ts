import { cannotAsk, type Io } from './io.ts'

/** The text of a file that an option names; `-` is standard input. */
export async function readText(path: string, io: Io): Promise<string> {
  try {
    return await io.readFile(path)
  } catch (cause) {
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unreadable'
    throw cannotAsk('unreadable', `cannot read ${path} (${reason}): check the path`, cause)
  }
}
