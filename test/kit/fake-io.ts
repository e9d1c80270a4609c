import type { Io } from '../../src/cli/io.ts'
import { main } from '../../src/cli/main.ts'
import { systemClock } from '../../src/runtime/clock.ts'

export interface CliAnswer {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface CliWorld {
  /** Texts by path; `-` is standard input. */
  readonly files?: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
  readonly now?: Date
  readonly signal?: AbortSignal
}

/** Runs the command line tool in this process. */
export async function runCli(args: readonly string[], world: CliWorld = {}): Promise<CliAnswer> {
  const answer = { out: '', err: '' }
  const { now } = world
  const io: Io = {
    out: (text) => {
      answer.out += text
    },
    err: (text) => {
      answer.err += text
    },
    env: world.env ?? {},
    clock: now === undefined ? systemClock : { ...systemClock, now: () => now },
    signal: world.signal ?? new AbortController().signal,
    readFile: async (path) => {
      const text = world.files?.[path]
      const code = path.endsWith('/') ? 'EISDIR' : 'ENOENT'
      if (text === undefined) throw Object.assign(new Error(`no file ${path}`), { code })
      return text
    },
    invocation: 'graphwright',
  }
  const code = await main(args, io)
  return { code, ...answer }
}
