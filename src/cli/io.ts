import type { Clock } from '../runtime/clock.ts'

/** What a command may touch beside the cluster: given by the process, or by a test. */
export interface Io {
  /** Results; the caller adds line ends. */
  readonly out: (text: string) => void
  /** Progress, hints and errors. */
  readonly err: (text: string) => void
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  /** Aborted when the user interrupts. */
  readonly signal: AbortSignal
  /** Text of a file; `-` is standard input. */
  readonly readFile: (path: string) => Promise<string>
  /** How the tool was called, for hints: `graphwright` or `kubectl graphwright`. */
  readonly invocation: string
}

/** 0: the request was answered, whatever the workflow's result. */
export const exitCodes = {
  ok: 0,
  /** The document is rejected, the request refused, or (with --exit-status) the firing failed. */
  refused: 1,
  /** The request could not be made: no cluster, no permission, no such name, wrong usage. */
  couldNotAsk: 2,
  interrupted: 130,
} as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** Told the exit code of the command that ran. */
export type Done = (code: ExitCode) => void

/** Stable codes of what the command line refuses or cannot do; each has its row in docs/reasons.md. */
export const cliCodes = [
  'event_invalid',
  'event_too_large',
  'forbidden',
  'internal',
  'interrupted',
  'kubeconfig',
  'no_graph',
  'no_runs',
  'no_schedule',
  'not_applied',
  'not_found',
  'not_installed',
  'not_planned',
  'not_ready',
  'plan_blocked',
  'plan_failed',
  'plan_stale',
  'refused',
  'rejected',
  'unauthorized',
  'unreachable',
  'unreadable',
  'usage',
  'validation.conflict',
] as const
export type CliCode = (typeof cliCodes)[number]

/** A failure that is told in one line, with what to do next. */
export class CliError extends Error {
  override readonly name = 'CliError'
  readonly exitCode: ExitCode
  /** Stable, for scripts: a {@link CliCode}, or the reason that the API server gave. */
  readonly code: string

  constructor(exitCode: ExitCode, code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.exitCode = exitCode
    this.code = code
  }
}

/** The request was understood and is refused: exit code 1. */
export function refusal(code: CliCode, message: string): CliError {
  return new CliError(exitCodes.refused, code, message)
}

/** The request could not be made: exit code 2. */
export function cannotAsk(code: CliCode, message: string, cause?: unknown): CliError {
  return new CliError(exitCodes.couldNotAsk, code, message, cause)
}
