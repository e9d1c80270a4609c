import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { type OutputError, outputLimitBytes, type ResultReport } from '../api/run-api.ts'

/**
 * Reads what the main container left as its result. That container is not trusted: only a regular file is read, never
 * through a link, never waiting on a pipe, never more than {@link outputLimitBytes}. No file is an empty output.
 */
export function readOutput(path: string): ResultReport {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  let file: number
  try {
    file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch (error) {
    return openFailed(error)
  }
  try {
    return fstatSync(file).isFile() ? readFile(file) : { error: 'output_not_a_file' }
  } catch {
    return { error: 'output_unreadable' }
  } finally {
    closeSync(file)
  }
}

function openFailed(error: unknown): ResultReport {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOENT') return { output: '' }
  // A link, and a socket: neither can be opened like this.
  const notAFile: OutputError = 'output_not_a_file'
  return { error: code === 'ELOOP' || code === 'ENXIO' ? notAFile : 'output_unreadable' }
}

/** The file may still grow: its size is what is read, not what it was said to be. */
function readFile(file: number): ResultReport {
  const buffer = Buffer.allocUnsafe(outputLimitBytes + 1)
  let size = 0
  while (size < buffer.byteLength) {
    const read = readSync(file, buffer, size, buffer.byteLength - size, null)
    if (read === 0) break
    size += read
  }
  if (size > outputLimitBytes) return { error: 'output_too_large' }
  try {
    return { output: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(buffer.subarray(0, size)) }
  } catch {
    return { error: 'output_not_utf8' }
  }
}
