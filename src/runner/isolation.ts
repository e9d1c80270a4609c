import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { RunnerFailure } from './failure.ts'

/** An address that an isolated pod must not reach. */
export interface Target {
  readonly host: string
  readonly port: number
}

export interface IsolationTiming {
  /** How long a target may still be reached: the network needs a moment to learn about a new pod. Milliseconds. */
  readonly limitMillis: number
  /** No connection within this time is no way through, milliseconds. */
  readonly connectMillis: number
  readonly pauseMillis: number
}

const defaultTiming: IsolationTiming = { limitMillis: 10_000, connectMillis: 1000, pauseMillis: 100 }

/**
 * `host:port` items, separated by commas; IPv6 addresses in brackets.
 * @throws {RunnerFailure} for an item that is none: a check that cannot be made counts as failed
 */
export function parseTargets(text: string): Target[] {
  const items = text.split(',').filter((item) => item.trim() !== '')
  return items.map((item) => {
    const [, bracketed, plain, port] = /^\s*(?:\[([^\]]+)\]|([^\s:]+)):(\d{1,5})\s*$/.exec(item) ?? []
    const host = bracketed ?? plain
    if (host !== undefined && Number(port) >= 1 && Number(port) <= 65535) return { host, port: Number(port) }
    throw new RunnerFailure('NetworkNotIsolated', `cannot check the isolation of the network: ${item} is no host:port`)
  })
}

/**
 * Returns once none of the targets can be reached.
 * @throws {RunnerFailure} `NetworkNotIsolated` when one still can after the time allowed
 */
export async function requireIsolation(
  targets: readonly Target[],
  timing: IsolationTiming = defaultTiming,
): Promise<void> {
  await Promise.all(targets.map((target) => requireUnreachable(target, timing)))
}

async function requireUnreachable(target: Target, timing: IsolationTiming): Promise<void> {
  const end = performance.now() + timing.limitMillis
  while (await reaches(target, timing.connectMillis)) {
    if (performance.now() >= end) throw notIsolated(target, timing)
    await sleep(timing.pauseMillis)
  }
}

function reaches({ host, port }: Target, connectMillis: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port })
    const end = (reached: boolean) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(reached)
    }
    const timer = setTimeout(() => end(false), connectMillis)
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
  })
}

function notIsolated({ host, port }: Target, timing: IsolationTiming): RunnerFailure {
  const seconds = Math.round(timing.limitMillis / 1000)
  const advice =
    'The cluster does not enforce NetworkPolicies: install a network plugin that does, or set network: open'
  return new RunnerFailure(
    'NetworkNotIsolated',
    `the pod still reaches ${host}:${port} after ${seconds} s, although its network is to be isolated. ${advice}.`,
  )
}
