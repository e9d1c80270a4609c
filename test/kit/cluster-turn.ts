import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, inject } from 'vitest'
import { nodeCluster } from './node-cluster.ts'

/** All of the others may take so long before it is this file's turn, in milliseconds. */
const patienceMillis = 900_000

/** For the top of a file: its tests have the cluster together with those of other files that share it. */
export function shareCluster(): void {
  holdTurn('--shared')
}

/** For the top of a file whose tests disturb the node or the operator: they have the cluster for themselves. */
export function haveClusterAlone(): void {
  holdTurn('--exclusive')
}

/** A lock of flock(1), which is let go of when the process of the test file ends, however it does. */
function holdTurn(mode: '--shared' | '--exclusive'): void {
  let letGo = () => {}
  beforeAll(async () => {
    if ('unavailable' in inject('nodeCluster')) return
    const file = join(nodeCluster().tools, 'turn')
    const holder = spawn('flock', [mode, file, 'sh', '-c', 'echo held; exec cat'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    letGo = () => holder.stdin.end()
    await Promise.race([once(holder.stdout, 'data'), once(holder, 'exit').then(refused)])
  }, patienceMillis)
  afterAll(() => letGo())
}

function refused(): never {
  throw new Error('flock(1), of the package util-linux, did not get its lock')
}
