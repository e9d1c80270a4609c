import { podPaths, runnerEnv } from '../api/run-api.ts'
import { reportFailure } from '../runner/failure.ts'
import type { GatewayAccess } from '../runner/gateway.ts'
import { deliverInput } from '../runner/input.ts'
import { parseTargets } from '../runner/isolation.ts'
import { mainContainerEnded, reportResult } from '../runner/serve.ts'

/** The two containers of the operator in a job pod: `runner input` fetches and exits, `runner serve` reports. */

async function main(program: string | undefined): Promise<void> {
  if (program === 'input') return input()
  if (program === 'serve') return serve()
  throw new Error('usage: runner input|serve (inside a job pod)')
}

async function input(): Promise<void> {
  const targets = parseTargets(process.env[runnerEnv.isolationProbes] ?? '')
  await deliverInput({ access: access(), folder: podPaths.input, targets })
}

async function serve(): Promise<void> {
  const ended = mainContainerEnded()
  const options = { access: access(), resultFile: podPaths.result, inputFolder: podPaths.input }
  await ended
  const recorded = await reportResult(options)
  if (recorded === undefined) console.log('the main container got no input: nothing to report')
  else console.log(`recorded ${recorded.error ?? `${recorded.size} bytes`} as ${recorded.digest}`)
}

function access(): GatewayAccess {
  return { url: required(runnerEnv.gatewayUrl), ca: required(runnerEnv.gatewayCa), tokenFile: podPaths.token }
}

function required(name: string): string {
  const value = process.env[name]
  if (value === undefined || value === '') throw new Error(`the environment variable ${name} is not set`)
  return value
}

void main(process.argv[2])
  .then(() => 0)
  .catch((error: unknown) => reportFailure(error, podPaths.terminationLog))
  .then((code) => process.exit(code))
