import { type Clock, systemClock } from './clock.ts'
import type { Logger } from './log.ts'

export interface ShutdownOptions {
  readonly log: Logger
  /** Milliseconds for all steps together; then the process ends as it is. Default 25 s, below the kubelet's 30. */
  readonly deadlineMillis?: number
  readonly clock?: Clock
  /** Ends the process. For tests. */
  readonly exit?: (code: number) => void
  /** Where signals and errors come from. For tests. */
  readonly process?: Pick<NodeJS.Process, 'on'>
}

interface Step {
  readonly name: string
  readonly run: () => Promise<void>
}

const defaultDeadlineMillis = 25_000

/**
 * Ends a process in order. On SIGTERM or SIGINT the steps run one after the other, in the order of their registration,
 * within one deadline; a second signal ends the process at once. An error that nobody caught ends it at once too, with
 * code 1: the state after it is unknown, and everything is built to be started again.
 */
export class Shutdown {
  readonly #log: Logger
  readonly #clock: Clock
  readonly #deadlineMillis: number
  readonly #exit: (code: number) => void
  readonly #steps: Step[] = []
  #stopping: Promise<void> | undefined

  constructor(options: ShutdownOptions) {
    this.#log = options.log
    this.#clock = options.clock ?? systemClock
    this.#deadlineMillis = options.deadlineMillis ?? defaultDeadlineMillis
    this.#exit = options.exit ?? ((code) => process.exit(code))
    this.#listen(options.process ?? process)
  }

  /** Adds a step after those that are there. A step that fails is logged, the next one runs. */
  add(name: string, run: () => Promise<void>): void {
    this.#steps.push({ name, run })
  }

  /** Runs the steps and ends the process with this code. Later calls join the first. */
  stop(reason: string, code = 0): Promise<void> {
    this.#stopping ??= this.#run(reason, code)
    return this.#stopping
  }

  async #run(reason: string, code: number): Promise<void> {
    this.#log.info({ reason }, 'stopping')
    const late = new AbortController()
    const cancel = this.#clock.after(this.#deadlineMillis, () => late.abort())
    const ran = await Promise.race([this.#runSteps(), whenAborted(late.signal)])
    cancel()
    if (ran) this.#log.info({}, 'stopped')
    else this.#log.warn({ deadlineMillis: this.#deadlineMillis }, 'did not stop in time, ending as it is')
    this.#exit(code)
  }

  async #runSteps(): Promise<boolean> {
    for (const { name, run } of this.#steps) {
      try {
        await run()
      } catch (error) {
        this.#log.warn({ error, step: name }, 'step of the shutdown failed')
      }
    }
    return true
  }

  #listen(source: Pick<NodeJS.Process, 'on'>): void {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      source.on(signal, () => {
        if (this.#stopping !== undefined) this.#exit(1)
        else void this.stop(signal)
      })
    }
    source.on('uncaughtException', (error: unknown) => this.#die(error, 'uncaught exception'))
    source.on('unhandledRejection', (error: unknown) => this.#die(error, 'unhandled rejection'))
  }

  #die(error: unknown, what: string): void {
    this.#log.error({ error, what }, 'ending because of an error that nobody handled')
    this.#exit(1)
  }
}

function whenAborted(signal: AbortSignal): Promise<false> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(false), { once: true }))
}
