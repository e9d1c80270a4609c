import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { systemClock } from '../runtime/clock.ts'
import { cannotAsk, exitCodes, type Io } from './io.ts'

/** The process as the commands see it. */
export function processIo(): Io {
  const interruption = new AbortController()
  process.once('SIGINT', () => {
    interruption.abort(new Error('interrupted'))
    // What does not listen to the signal is not waited for.
    setTimeout(() => process.exit(exitCodes.interrupted), 300).unref()
  })
  // A reader that has seen enough, such as head, is no error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 2))
  return {
    out: (line) => process.stdout.write(line),
    err: (line) => process.stderr.write(line),
    env: process.env,
    clock: systemClock,
    signal: interruption.signal,
    readFile: async (path) => utf8(path === '-' ? await buffer(process.stdin) : await readFile(path), path),
    invocation: basename(process.argv[1] ?? '').startsWith('kubectl-') ? 'kubectl graphwright' : 'graphwright',
  }
}

/** Bytes that are no text are refused: replaced by question marks they would be planned, or sent to an agent. */
function utf8(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw cannotAsk(
      'unreadable',
      `${path === '-' ? 'standard input' : path} is no text in UTF-8: save it as UTF-8`,
      cause,
    )
  }
}
