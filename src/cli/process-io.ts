import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { text } from 'node:stream/consumers'
import { systemClock } from '../runtime/clock.ts'
import { exitCodes, type Io } from './io.ts'

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
    readFile: (path) => (path === '-' ? text(process.stdin) : readFile(path, 'utf8')),
    invocation: basename(process.argv[1] ?? '').startsWith('kubectl-') ? 'kubectl graphwright' : 'graphwright',
  }
}
