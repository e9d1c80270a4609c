import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { podGraceSeconds, type RecordedReport, runApiPaths } from '../api/run-api.ts'
import { ask, type GatewayAccess, type Patience } from './gateway.ts'
import { inputMarker } from './input.ts'
import { readOutput } from './output.ts'

export interface ReportOptions {
  readonly access: GatewayAccess
  /** File that the main container leaves its result in. */
  readonly resultFile: string
  /** Folder of the input, where this container sees it. */
  readonly inputFolder: string
  readonly patience?: Patience
}

/** Giving up must still be told before the pod is killed. */
const defaultPatience: Patience = { limitMillis: (podGraceSeconds - 10) * 1000 }

/**
 * Resolves on the first SIGTERM: the kubelet sends it to a native sidecar once the main container has ended (KEP-753).
 * Further ones are ignored; the result is under way.
 */
export function mainContainerEnded(source: Pick<NodeJS.Process, 'on'> = process): Promise<void> {
  // Keeps the process alive: it waits for nothing but a signal.
  const idle = setInterval(() => {}, 2 ** 30)
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      source.on(signal, () => {
        clearInterval(idle)
        resolve()
      })
    }
  })
}

/**
 * Reports the result to the gateway; trying again is safe, because the same report is recorded once. Undefined where the
 * input never came: then the main container has not run, and that it left nothing says nothing.
 */
export async function reportResult(options: ReportOptions): Promise<RecordedReport | undefined> {
  const { inputFolder } = options
  if (existsSync(inputFolder) && !existsSync(join(inputFolder, inputMarker))) return undefined
  const body = readOutput(options.resultFile)
  const what = { method: 'POST', path: runApiPaths.result, body } as const
  return ask<RecordedReport>(options.access, what, options.patience ?? defaultPatience)
}
