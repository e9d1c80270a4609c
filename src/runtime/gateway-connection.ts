import { readFile } from 'node:fs/promises'
import { Agent, request } from 'undici'
import type { ErrorBody } from '../api/run-api.ts'

export interface GatewayConnectionOptions {
  /** `https://graphwright-gateway.NAMESPACE.svc:8443` */
  readonly url: string
  /** PEM of the CA that the gateway's certificate is checked against. */
  readonly caPem: string
  /** File of the projected token. Read again for every request: the kubelet renews it. */
  readonly tokenFile: string
}

export interface GatewayAnswer {
  readonly status: number
  readonly bytes: Buffer
}

/** Milliseconds for a request: longer than the gateway itself waits for whoever it asks. */
const requestTimeoutMillis = 15_000

/** Requests of the manager to the gateway. */
export class GatewayConnection {
  readonly url: string
  readonly #tokenFile: string
  readonly #agent: Agent

  constructor({ url, caPem, tokenFile }: GatewayConnectionOptions) {
    this.url = url
    this.#tokenFile = tokenFile
    this.#agent = new Agent({
      connect: { ca: caPem, timeout: 5000 },
      headersTimeout: requestTimeoutMillis,
      bodyTimeout: requestTimeoutMillis,
      keepAliveTimeout: 30_000,
    })
  }

  async send(
    method: 'GET' | 'PUT' | 'POST',
    path: string,
    body: Buffer | undefined,
    signal: AbortSignal | undefined,
  ): Promise<GatewayAnswer> {
    const token = (await readFile(this.#tokenFile, 'utf8')).trim()
    const answer = await request(`${this.url}${path}`, {
      method,
      dispatcher: this.#agent,
      headers: { authorization: `Bearer ${token}` },
      body: body ?? null,
      signal: signal ?? null,
    })
    return { status: answer.statusCode, bytes: Buffer.from(await answer.body.arrayBuffer()) }
  }

  /** Ends the connections. */
  close(): Promise<void> {
    return this.#agent.close()
  }
}

/** What an answer that is no success says, for people. */
export function describeAnswer({ status, bytes }: GatewayAnswer): string {
  try {
    const { error } = JSON.parse(bytes.toString()) as ErrorBody
    return `${error.message} (${status} ${error.type}, request ${error.requestId})`
  } catch {
    return `status ${status}`
  }
}
