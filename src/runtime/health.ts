import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Gauge, type Registry } from 'prom-client'
import { EventLoopMonitor } from './event-loop.ts'

export interface HealthOptions {
  /** 0 takes any free port. */
  readonly port: number
  /** Default all addresses. */
  readonly host?: string
  /** Why the process should get no traffic; empty while it is ready. */
  readonly ready: () => readonly string[]
  /** What it cannot do although it is ready, for people: added to the answer of `/readyz`. */
  readonly limits?: () => readonly string[]
  readonly metrics: Registry
  /** Longest event loop delay of a process that is still called alive, milliseconds; default 5 s. */
  readonly eventLoopLimitMillis?: number
}

export interface HealthServer {
  readonly port: number
  close(): Promise<void>
}

interface Answer {
  readonly status: number
  readonly type: string
  readonly body: string
}

const plain = 'text/plain; charset=utf-8'

const defaultEventLoopLimitMillis = 5000

/**
 * Serves `/healthz` (does the event loop move), `/readyz` and `/metrics`. A failed check answers 503 with its reasons,
 * one a line.
 */
export async function startHealthServer(options: HealthOptions): Promise<HealthServer> {
  const monitor = new EventLoopMonitor()
  countReadiness(options)
  const server = createServer((request, response) => {
    answer(options, monitor, request.method ?? 'GET', request.url ?? '/')
      .catch((error: unknown) => ({ status: 500, type: plain, body: `${String(error)}\n` }))
      .then(({ status, type, body }) => response.writeHead(status, { 'content-type': type }).end(body))
      .catch(() => response.destroy())
  })
  await listen(server, options)
  return { port: (server.address() as AddressInfo).port, close: () => close(server, monitor) }
}

async function answer(options: HealthOptions, monitor: EventLoopMonitor, method: string, url: string): Promise<Answer> {
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, type: plain, body: 'only GET\n' }
  switch (url.split('?')[0]) {
    case '/healthz':
      return verdict(eventLoopProblems(monitor, options.eventLoopLimitMillis ?? defaultEventLoopLimitMillis))
    case '/readyz':
      return verdict(options.ready(), options.limits?.())
    case '/metrics':
      return { status: 200, type: options.metrics.contentType, body: await options.metrics.metrics() }
    default:
      return { status: 404, type: plain, body: 'there is /healthz, /readyz and /metrics\n' }
  }
}

/** What an alert needs: whoever scrapes does not see the probes. */
function countReadiness({ metrics, ready }: HealthOptions): void {
  new Gauge({
    name: 'graphwright_ready',
    help: '1 while the process is ready, as /readyz says.',
    registers: [metrics],
    collect() {
      this.set(ready().length === 0 ? 1 : 0)
    },
  })
}

function eventLoopProblems(monitor: EventLoopMonitor, limitMillis: number): string[] {
  const delay = Math.round(monitor.delayMillis)
  return delay <= limitMillis ? [] : [`the event loop stood still for ${delay} ms`]
}

function verdict(problems: readonly string[], limits: readonly string[] = []): Answer {
  if (problems.length === 0) return { status: 200, type: plain, body: `${['ok', ...limits].join('\n')}\n` }
  return { status: 503, type: plain, body: `${problems.join('\n')}\n` }
}

function listen(server: Server, { port, host }: HealthOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, ...(host !== undefined && { host }) }, () => {
      server.removeListener('error', reject)
      resolve()
    })
  })
}

function close(server: Server, monitor: EventLoopMonitor): Promise<void> {
  monitor.stop()
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
