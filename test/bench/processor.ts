import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BenchManager, BenchPlane } from './plane.ts'

const ticksPerSecond = 100

type Server = 'kube-controller-manager' | 'kube-apiserver' | 'etcd'

/** Seconds of processor time, by process. */
export type ProcessorSeconds = Readonly<Record<'manager' | Server, number>>

/** What the operator and the servers have used so far. */
export function processorSeconds(plane: BenchPlane, manager: BenchManager): ProcessorSeconds {
  return { manager: secondsOf(manager.pid), ...serverSeconds(plane) }
}

function serverSeconds({ plane }: BenchPlane): Omit<ProcessorSeconds, 'manager'> {
  const of = (name: Server) => secondsOf(pidIn(plane.dir, name))
  return {
    'kube-controller-manager': of('kube-controller-manager'),
    'kube-apiserver': of('kube-apiserver'),
    etcd: of('etcd'),
  }
}

/** Over so many seconds the servers together use less than a tenth of a processor when nothing is asked of them. */
const restSeconds = 4
const patienceSeconds = 180

/** Waits until the servers have nothing to do any more. @throws where they do not come to rest within three minutes */
export async function serversAtRest(plane: BenchPlane): Promise<void> {
  const used = () => Object.values(serverSeconds(plane)).reduce((sum, seconds) => sum + seconds)
  for (let waited = 0; waited < patienceSeconds; waited += restSeconds) {
    const before = used()
    await sleep(restSeconds * 1000)
    if (used() - before < restSeconds / 10) return
  }
  throw new Error(`the servers are still busy after ${patienceSeconds} seconds`)
}

function pidIn(dir: string, server: Server): number {
  return Number.parseInt(readFileSync(`${dir}/run/${server}.pid`, 'utf8'), 10)
}

/** User and system time of a process: the 14th and 15th field of its stat, counted behind the name in parentheses. */
function secondsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}
