import { z } from 'zod'
import { type Content, inlineLimitBytes } from '../api/fields.ts'
import type { Run, RunResult } from '../api/run.ts'
import { outputErrors, outputLimitBytes, type RecordedReport, type ResultReport } from '../api/run-api.ts'
import type { WorkPhase } from '../api/session.ts'
import { digestBytes } from '../lib/digest.ts'
import { secondsTime } from '../lib/time.ts'
import { ApiError } from './errors.ts'

/** A report as it will be recorded. */
export interface Outcome {
  readonly output: Content
  readonly error: string | undefined
  /** Bytes of the output, where it is too large for the Run and goes into the content store. */
  readonly stored: Uint8Array | undefined
}

const reportSchema = z.union([z.strictObject({ output: z.string() }), z.strictObject({ error: z.enum(outputErrors) })])

/**
 * The body of a report.
 * @throws {ApiError} `validation.invalid`, or `validation.payload_too_large` for an output over 1 MiB
 */
export function parseReport(body: unknown): ResultReport {
  const parsed = reportSchema.safeParse(body)
  if (!parsed.success) {
    const message = `the body must be {"output": "<text>"} or {"error": "${outputErrors.join('" | "')}"}`
    throw new ApiError('validation.invalid', 'report_malformed', message)
  }
  if ('error' in parsed.data) return parsed.data
  const { output } = parsed.data
  if (!output.isWellFormed()) {
    const message = 'the output has half a surrogate pair in it, which no UTF-8 text has'
    throw new ApiError('validation.invalid', 'output_malformed', message)
  }
  if (Buffer.byteLength(output) > outputLimitBytes) {
    const message = `an output may have ${outputLimitBytes} bytes of UTF-8`
    throw new ApiError('validation.payload_too_large', 'output_too_large', message)
  }
  return { output }
}

/** What a report comes to: small outputs inline, larger ones by digest. */
export function outcomeOf(report: ResultReport): Outcome {
  const bytes = Buffer.from('output' in report ? report.output : '')
  const small = bytes.byteLength <= inlineLimitBytes
  const content = { digest: digestBytes(bytes), size: bytes.byteLength }
  return {
    output: small ? { inline: bytes.toString(), ...content } : content,
    error: 'error' in report ? report.error : undefined,
    stored: small ? undefined : bytes,
  }
}

/** The record of an outcome reported by the current incarnation of `run`. */
export function resultOf(outcome: Outcome, run: Run, now: Date): RunResult {
  return {
    output: outcome.output,
    ...(outcome.error === undefined ? {} : { error: outcome.error }),
    incarnation: run.status?.incarnation?.number ?? 0,
    reportedAt: secondsTime(now),
  }
}

/** True where what is on record says the same as `outcome`. */
export function sameResult(recorded: RunResult, outcome: Outcome): boolean {
  return recorded.output.digest === outcome.output.digest && recorded.error === outcome.error
}

/** What a pod is told is on record. */
export function recordedOf(result: RunResult): RecordedReport {
  const { output, error, reportedAt } = result
  return { digest: output.digest, size: output.size, ...(error === undefined ? {} : { error }), reportedAt }
}

const settledPhases: readonly WorkPhase[] = ['Succeeded', 'Failed', 'Cancelled', 'Indeterminate']

/** True once nothing about the run can change any more. */
export function isSettled({ status }: Run): boolean {
  return status?.settledAt !== undefined || (status?.phase !== undefined && settledPhases.includes(status.phase))
}
