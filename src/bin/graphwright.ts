#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import { whyNodeIsTooOld } from '../cli/node-version.ts'

/** `graphwright`: the operator's processes and the command line tool in one program. Only what is called is loaded. */
async function start([command, ...args]: readonly string[]): Promise<void> {
  switch (command) {
    case 'manager':
      return (await import('./manager.ts')).run(args)
    case 'gateway':
      return (await import('./gateway.ts')).run(args)
    default: {
      const [{ main }, { processIo }] = await Promise.all([import('../cli/main.ts'), import('../cli/process-io.ts')])
      process.exitCode = await main(process.argv.slice(2), processIo())
    }
  }
}

const tooOld = whyNodeIsTooOld(process.versions.node, process.execPath)
if (tooOld !== undefined) {
  console.error(`error: ${tooOld}`)
  process.exitCode = 2
} else {
  enableCompileCache()
  start(process.argv.slice(2)).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 2
  })
}
