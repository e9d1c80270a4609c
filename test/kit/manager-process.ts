import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { Write } from '../../src/runtime/writer.ts'
import { eventually } from './eventually.ts'

/** A write of a manager. */
export interface ToldWrite {
  /** Counts the writes of its process, from 1. */
  readonly number: number
  readonly verb: Write['verb']
  readonly kind: string
  readonly name: string
}

/** Where a manager is to die: at the write of that number, counted by its process, or at the first of that sort. */
export interface Doom {
  readonly at: number | `${Write['verb']} ${string}`
  readonly moment: 'before' | 'after'
}

export interface ManagerSettings {
  /** Command line before the manager's own: a program that becomes it, as env(1) does. */
  readonly wrapper?: readonly string[]
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** Path of what is started; default this very release. */
  readonly entry?: string
}

/** Settings of a manager, or of the next life of one, once that may begin. */
type SettingsOf = ManagerSettings | ((life: number) => ManagerSettings | Promise<ManagerSettings>)

/** Entries of the manager and the gateway start faster the second time. */
export const compileCache = new URL('../../.cache/compile', import.meta.url).pathname

const thisManager = new URL('doomed-manager.ts', import.meta.url).pathname

/** A `graphwright manager` in a process of its own. */
class Life {
  /** Writes that were answered with success, in the order of the answers. */
  readonly writes: ToldWrite[] = []
  /** Writes that were begun. */
  readonly begun: ToldWrite[] = []
  readonly ended: Promise<{ readonly signal: string | null; readonly code: number | null }>
  readonly #child: ChildProcess
  #output = ''

  constructor({ args, env, entry = thisManager, wrapper = [] }: ManagerSettings, doom: Doom | undefined) {
    const crash = doom === undefined ? {} : { CRASH_AT: String(doom.at), CRASH_MOMENT: doom.moment }
    const [program = process.execPath, ...words] = [...wrapper, process.execPath, entry, ...args]
    this.#child = spawn(program, words, {
      env: { ...process.env, NODE_COMPILE_CACHE: compileCache, ...env, ...crash },
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    })
    const [, stdout, stderr, told] = this.#child.stdio as unknown as [unknown, Readable, Readable, Readable]
    for (const stream of [stdout, stderr]) {
      stream.on('data', (chunk: Buffer) => {
        this.#output += chunk.toString()
      })
    }
    createInterface({ input: told }).on('line', (line) => this.#hear(JSON.parse(line)))
    // `close` comes when everything it has told is read.
    this.ended = once(this.#child, 'close').then(([code, signal]) => ({ code, signal }))
  }

  #hear({ moment, ...write }: ToldWrite & { readonly moment: Doom['moment'] }): void {
    const heard = moment === 'before' ? this.begun : this.writes
    heard.push(write)
  }

  /** What it logged. */
  get output(): string {
    return this.#output
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }

  /** Stops it where it is, as a node does that has run out of memory; it knows nothing of that when it goes on. */
  freeze(): void {
    this.#child.kill('SIGSTOP')
  }

  thaw(): void {
    this.#child.kill('SIGCONT')
  }

  /** Lets it end as a Deployment would. */
  terminate(): void {
    this.#child.kill('SIGTERM')
  }
}

/** Keeps one manager running, as a Deployment does: one that was killed is followed by the next. */
export class ManagerKeeper {
  readonly lives: Life[] = []
  readonly #settings: SettingsOf
  readonly #doomOf: (life: number) => Doom | undefined
  #isStopping = false
  /** Until it resolves, none is started. */
  #rest: Promise<unknown> = Promise.resolve()
  readonly #running: Promise<void>
  /** Rejects when a manager came to an end that nobody wanted; never resolves. */
  readonly failed: Promise<never>

  /** @param doomOf where the manager dies in its n-th life, from 0; undefined: not by itself */
  constructor(settings: SettingsOf, doomOf: (life: number) => Doom | undefined = () => undefined) {
    this.#settings = settings
    this.#doomOf = doomOf
    this.#running = this.#keep()
    this.failed = this.#running.then(() => new Promise<never>(() => {}))
    // Whoever does not wait for it is told by stop().
    this.failed.catch(() => {})
  }

  /** All writes, in order, of all lives. */
  get writes(): ToldWrite[] {
    return this.lives.flatMap(({ writes }) => writes)
  }

  /** How many writes were begun and not answered with success: a conflict, or the end of the process. */
  get refused(): number {
    return this.lives.reduce((sum, { begun, writes }) => sum + begun.length - writes.length, 0)
  }

  /** The last of what the managers logged that is worth a look, for people. */
  get complaints(): string {
    const told = this.lives.map(({ output }, life) => {
      const lines = output.split('\n').filter((line) => line !== '' && !line.includes('"level":"info"'))
      return [`life ${life}:`, ...lines.slice(-20).map((line) => line.slice(0, 300))].join('\n')
    })
    return told.join('\n')
  }

  /** Waits until this is so of the manager that runs. */
  until(isSo: (life: Life) => boolean): Promise<unknown> {
    return eventually(
      () => {
        const life = this.lives.at(-1)
        return life !== undefined && isSo(life)
      },
      { timeout: 30_000 },
    )
  }

  kill(): void {
    this.lives.at(-1)?.kill()
  }

  /** Kills the manager, and has none until this has happened. */
  killUntil(returning: Promise<unknown>): void {
    this.#rest = returning
    this.kill()
  }

  /** Ends the manager in order. Throws if one of them came to an end that nobody wanted. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.lives.at(-1)?.terminate()
    await this.#running
  }

  async #keep(): Promise<void> {
    for (;;) {
      await this.#rest
      if (this.#isStopping) return
      const number = this.lives.length
      const settings = typeof this.#settings === 'function' ? await this.#settings(number) : this.#settings
      const life = new Life(settings, this.#doomOf(number))
      this.lives.push(life)
      // It was asked to stop while it began.
      if (this.#isStopping) life.terminate()
      const { signal, code } = await life.ended
      const isExpected = signal === 'SIGKILL' || (this.#isStopping && (code === 0 || signal === 'SIGTERM'))
      if (!isExpected) throw new Error(`the manager ended with ${signal ?? code}:\n${life.output}`)
    }
  }
}
