/**
 * `graphwright manager` as the binary wires it, in a process of its own that tells each of its writes as a line of JSON
 * on file descriptor 3, and kills itself with SIGKILL at the write it is told to. It ends with its standard input.
 * Environment: what the binary takes, CRASH_AT (number of the write, or its sort, such as `create Job`), CRASH_MOMENT
 * (before | after), CLOCK (the arguments of a compressed clock as a JSON array), MACHINE (how the machine's clock is set
 * meanwhile, as JSON), PRUNING (when names are let go, as JSON).
 */
import { writeSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { run } from '../../src/bin/manager.ts'
import type { PruningRules } from '../../src/reconcilers/automation/pruning.ts'
import { compressedClock } from './compressed-clock.ts'
import { setClock } from './set-clock.ts'

const { CRASH_AT, CRASH_MOMENT, CLOCK, MACHINE, PRUNING } = process.env
// Killed processes never get to keep what they compiled, and a crash test starts a hundred of them.
flushCompileCache()
process.stdin.resume().on('end', () => process.exit(0))
await run(process.argv.slice(2), {
  ...(PRUNING !== undefined && { pruning: JSON.parse(PRUNING) as PruningRules }),
  ...(CLOCK !== undefined && { clock: compressedClock(...(JSON.parse(CLOCK) as [number, number, number?])) }),
  ...(MACHINE !== undefined && { machine: setClock(JSON.parse(MACHINE) as [number, number][]) }),
  faults: (moment, { number, verb, ref }) => {
    const isItsEnd = [String(number), `${verb} ${ref.kind}`].includes(CRASH_AT ?? '') && moment === CRASH_MOMENT
    writeSync(3, `${JSON.stringify({ moment, number, verb, kind: ref.kind, name: ref.name })}\n`)
    if (isItsEnd) process.kill(process.pid, 'SIGKILL')
  },
})
