import { writeFileSync } from 'node:fs'
import { type RunnerExit, runnerExits } from '../api/run-api.ts'

/** The kubelet keeps no more of a termination message. */
const messageLimit = 4096

/** Why a container of a job pod gives up: one of the exits that the manager knows, and the cause in words. */
export class RunnerFailure extends Error {
  override readonly name = 'RunnerFailure'
  readonly exit: RunnerExit

  constructor(exit: RunnerExit, message: string, options?: ErrorOptions) {
    super(message, options)
    this.exit = exit
  }

  get exitCode(): number {
    return runnerExits[this.exit]
  }
}

/**
 * Leaves the cause for the kubelet, which copies it into the pod's status, and for the log.
 * @returns the exit code
 */
export function reportFailure(error: unknown, terminationLog: string): number {
  const failure = error instanceof RunnerFailure ? error : undefined
  const text = error instanceof Error ? error.message : String(error)
  const message = failure === undefined ? text : `${failure.exit}: ${text}`
  console.error(message)
  try {
    writeFileSync(terminationLog, message.slice(0, messageLimit))
  } catch (cause) {
    console.error(`cannot write ${terminationLog}: ${String(cause)}`)
  }
  return failure?.exitCode ?? 1
}
