import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ErrorBody } from '../api/run-api.ts'
import { RunnerFailure } from './failure.ts'

/**
 * The pod's way to the gateway, on nothing but node:https: this program starts with every pod, and everything it loads
 * delays the work.
 */

export interface GatewayAccess {
  /** `https://host:port` */
  readonly url: string
  /** PEM. */
  readonly ca: string
  /** File of the projected token. Read again for every request: the kubelet renews it. */
  readonly tokenFile: string
}

export interface Patience {
  /** Milliseconds after which trying ends. */
  readonly limitMillis: number
  /** First and longest pause between tries that failed, milliseconds. */
  readonly pauseMillis?: readonly [first: number, longest: number]
}

interface GatewayRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** Sent as JSON. */
  readonly body?: unknown
}

interface Answer {
  readonly status: number
  readonly text: string
}

const requestTimeoutMillis = 15_000
/** The input of a run: a prompt and 32 bindings of the largest size that the gateway keeps. */
const answerLimitBytes = 300 * 1024 * 1024
/** The gateway itself waits a while for a pod to be recorded before it answers 425. */
const notRecordedPauseMillis = 100

/**
 * Asks until the gateway answers with a success, which is returned as parsed JSON. Whatever may pass is tried again:
 * no connection, a restart, an overload, a pod that is not recorded yet (425).
 * @throws {RunnerFailure} `Refused` for an answer that will not change, `GatewayUnreachable` when the time is over
 */
export async function ask<T>(access: GatewayAccess, what: GatewayRequest, patience: Patience): Promise<T> {
  const agent = new Agent({ ca: access.ca, keepAlive: true, maxSockets: 1 })
  const [first, longest] = patience.pauseMillis ?? [100, 2000]
  const end = performance.now() + patience.limitMillis
  let pause = first
  try {
    for (;;) {
      const answer = await send(agent, access, what).catch(asError)
      if (!(answer instanceof Error) && answer.status < 300) return JSON.parse(answer.text)
      if (!(answer instanceof Error) && isFinal(answer.status)) throw refused(answer)
      const early = !(answer instanceof Error) && answer.status === 425
      const wait = early ? Math.min(notRecordedPauseMillis, first) : pause
      if (!early) pause = Math.min(pause * 2, longest)
      if (performance.now() + wait >= end) throw givenUp(answer, access, patience)
      await sleep(wait)
    }
  } finally {
    agent.destroy()
  }
}

function isFinal(status: number): boolean {
  return status >= 400 && status < 500 && ![401, 408, 425, 429].includes(status)
}

function send(agent: Agent, access: GatewayAccess, what: GatewayRequest): Promise<Answer> {
  const body = what.body === undefined ? undefined : Buffer.from(JSON.stringify(what.body))
  const headers = {
    authorization: `Bearer ${readFileSync(access.tokenFile, 'utf8').trim()}`,
    ...(body && { 'content-type': 'application/json', 'content-length': body.byteLength }),
  }
  return new Promise((resolve, reject) => {
    const outgoing = request(new URL(what.path, access.url), { method: what.method, agent, headers }, (incoming) => {
      const chunks: Buffer[] = []
      let size = 0
      incoming.on('data', (chunk: Buffer) => {
        size += chunk.byteLength
        if (size > answerLimitBytes) incoming.destroy(new Error(`the answer exceeds ${answerLimitBytes} bytes`))
        chunks.push(chunk)
      })
      incoming.on('error', reject)
      incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, text: Buffer.concat(chunks).toString() }))
    })
    const timer = setTimeout(() => {
      outgoing.destroy(new Error(`no answer within ${requestTimeoutMillis / 1000} s`))
    }, requestTimeoutMillis)
    outgoing.on('close', () => clearTimeout(timer))
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

function refused(answer: Answer): RunnerFailure {
  return new RunnerFailure('Refused', `the gateway refuses this pod: ${describe(answer)}`)
}

function givenUp(last: Answer | Error, access: GatewayAccess, patience: Patience): RunnerFailure {
  const seconds = Math.round(patience.limitMillis / 1000)
  const why = last instanceof Error ? last.message : describe(last)
  return new RunnerFailure(
    'GatewayUnreachable',
    `no success from ${access.url} within ${seconds} s; the last try: ${why}`,
  )
}

/** The gateway's own words, which are made for people. */
function describe({ status, text }: Answer): string {
  try {
    const { error } = JSON.parse(text) as ErrorBody
    return `${error.message} (${status} ${error.type}, request ${error.requestId})`
  } catch {
    return `status ${status}`
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
