import { createServer, type Server } from 'node:https'
import { createAdaptorServer } from '@hono/node-server'
import { systemClock } from '../runtime/clock.ts'

/** Certificate (chain) and private key, both PEM. */
export interface ServingCertificate {
  readonly cert: string
  readonly key: string
}

export interface GatewayServerOptions {
  readonly fetch: (request: Request) => Response | Promise<Response>
  readonly certificate: ServingCertificate
  /** Default 0: a free one. */
  readonly port?: number
  /** Default: all addresses. */
  readonly host?: string
}

/** An HTTPS server whose certificate can be replaced while it serves. */
export class GatewayServer {
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
  }

  /** Resolves once it listens; rejects where the port is taken. */
  static async start(options: GatewayServerOptions): Promise<GatewayServer> {
    const server = createAdaptorServer({
      fetch: options.fetch,
      overrideGlobalObjects: false,
      createServer,
      serverOptions: { ...tlsOptions(options.certificate), ...limits },
    }) as Server
    // A client that breaks off its handshake is no failure of the gateway.
    server.on('tlsClientError', (_error, socket) => socket.destroy())
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(options.port ?? 0, options.host, () => {
        server.off('error', reject)
        resolve()
      })
    })
    return new GatewayServer(server)
  }

  get port(): number {
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('the gateway does not listen')
    return address.port
  }

  /** New connections get this certificate; open ones go on. */
  replaceCertificate(certificate: ServingCertificate): void {
    this.#server.setSecureContext(tlsOptions(certificate))
  }

  /** Takes no new connection, lets requests under way finish for up to `graceMillis`, then cuts them off. */
  async stop(graceMillis: number): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    // A connection becomes idle when its request is answered; closing the server looks for idle ones only once.
    const sweep = setInterval(() => this.#server.closeIdleConnections(), 20)
    const cancel = systemClock.after(graceMillis, () => this.#server.closeAllConnections())
    await closed
    clearInterval(sweep)
    cancel()
  }
}

/** Milliseconds, except for the sizes. Nobody holds a connection open without saying anything. */
const limits = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 60_000,
  connectionsCheckingInterval: 5_000,
  handshakeTimeout: 10_000,
  maxHeaderSize: 16 * 1024,
  keepAlive: true,
  noDelay: true,
}

function tlsOptions({ cert, key }: ServingCertificate) {
  return { cert, key, minVersion: 'TLSv1.2' as const }
}
