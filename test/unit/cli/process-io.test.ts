import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readEvent } from '../../../src/cli/event.ts'
import { planCommand } from '../../../src/cli/plan.ts'
import { processIo } from '../../../src/cli/process-io.ts'
import { temporaryFolder } from '../../kit/temporary-folder.ts'

let listeners: NodeJS.SignalsListener[] = []
beforeEach(() => {
  listeners = process.listeners('SIGINT')
})
afterEach(() => {
  for (const listener of process.listeners('SIGINT')) {
    if (!listeners.includes(listener)) process.removeListener('SIGINT', listener)
  }
})

function file(bytes: Uint8Array | string): string {
  const path = join(temporaryFolder(), 'file')
  writeFileSync(path, bytes)
  return path
}

it('reads text in UTF-8, with a byte order mark or without', async () => {
  expect(await processIo().readFile(file('Grüße'))).toBe('Grüße')
  expect(await processIo().readFile(file('\ufeff{}'))).toBe('{}')
})

it.each([
  ['an event', (path: string) => readEvent(`@${path}`, processIo())],
  ['a graph', (path: string) => planCommand({ filename: path }, processIo())],
])('refuses %s in another encoding, by the name of its file', async (_what, read) => {
  const path = file(Buffer.from('{"title": "Störung"}', 'latin1'))
  const message = `${path} is no text in UTF-8: save it as UTF-8`
  await expect(read(path)).rejects.toMatchObject({ code: 'unreadable', exitCode: 2, message })
})
