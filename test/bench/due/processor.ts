import { readFileSync } from 'node:fs'
import type { BenchManager, BenchPlane } from '../plane.ts'

const ticksPerSecond = 100

/** Seconds of processor time, by process. */
export type ProcessorSeconds = Readonly<
  Record<'manager' | 'kube-controller-manager' | 'kube-apiserver' | 'etcd', number>
>

/** What the operator and the servers have used so far. */
export function processorSeconds({ plane }: BenchPlane, manager: BenchManager): ProcessorSeconds {
  const server = (name: string) => secondsOf(pidIn(plane.dir, name))
  return {
    manager: secondsOf(manager.pid),
    'kube-controller-manager': server('kube-controller-manager'),
    'kube-apiserver': server('kube-apiserver'),
    etcd: server('etcd'),
  }
}

function pidIn(dir: string, server: string): number {
  return Number.parseInt(readFileSync(`${dir}/run/${server}.pid`, 'utf8'), 10)
}

/** User and system time of a process: the 14th and 15th field of its stat, counted behind the name in parentheses. */
function secondsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}
