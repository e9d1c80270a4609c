import type { KubeClient } from '../kube/client.ts'
import type { WatchRestartReason } from '../kube/pacing.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/log.ts'
import { type AppOptions, createApp } from './app.ts'
import { CertificateSource } from './certificate.ts'
import type { Contents } from './contents.ts'
import type { NoticeTarget } from './notices.ts'
import { PodDirectory } from './pod-directory.ts'
import { RunWatch } from './run-watch.ts'
import { Runs } from './runs.ts'
import { GatewayServer } from './server.ts'
import { SignedTokens } from './signed-tokens.ts'
import { TokenReviews } from './token-reviews.ts'

export interface GatewayOptions {
  readonly client: KubeClient
  readonly contents: Contents
  readonly notices?: NoticeTarget | undefined
  /** The namespace that the operator is installed in. */
  readonly namespace: string
  /**
   * The only namespaces that are served; default all. With them the gateway needs no right but in these and in its own:
   * it checks tokens itself, because a TokenReview is a right in the whole cluster.
   */
  readonly namespaces?: readonly string[] | undefined
  readonly clock: Clock
  readonly log: Logger
  /** Default 0: a free one. */
  readonly port?: number
  readonly recordWaitMillis?: number
  readonly onAnswer?: AppOptions['onAnswer']
  readonly onWatchRestart?: (kind: string, reason: WatchRestartReason) => void
}

/** The gateway: the only way out of a job pod and into the system. */
export class Gateway {
  readonly #options: GatewayOptions
  readonly #runs: RunWatch
  readonly #certificates: CertificateSource
  readonly #fetch: (request: Request) => Response | Promise<Response>
  readonly #watches = new AbortController()
  #watching: Promise<unknown> = Promise.resolve()
  #server: GatewayServer | undefined
  #state = 'waiting for the first list of Runs'

  constructor(options: GatewayOptions) {
    const { client, contents, notices, namespace, clock, log } = options
    this.#options = options
    const namespaces = options.namespaces ?? []
    this.#runs = new RunWatch({ client, namespaces, log, onRestart: options.onWatchRestart })
    this.#certificates = new CertificateSource(client, namespace, (error) => {
      log.error({ error }, 'the Secret of the serving certificate holds none that can be used')
    })
    const { recordWaitMillis, onAnswer } = options
    const runs = new Runs({
      client,
      contents,
      clock,
      pods: new PodDirectory(this.#runs.informers, clock),
      ...(recordWaitMillis !== undefined && { recordWaitMillis }),
    })
    const authenticator =
      namespaces.length === 0
        ? new TokenReviews(client, clock)
        : new SignedTokens({ client, clock, namespaces: [...namespaces, namespace] })
    const app = createApp({ authenticator, runs, contents, notices, namespace, log, ...(onAnswer && { onAnswer }) })
    this.#fetch = (request) => app.fetch(request)
  }

  /** Resolves once it serves: when the Runs are listed and the manager has made the certificate. */
  async start(): Promise<void> {
    const { log, port = 0 } = this.#options
    this.#watching = Promise.all([
      this.#runs.start(this.#watches.signal),
      this.#certificates.start(this.#watches.signal),
    ])
    await this.#runs.synced()
    this.#state = 'waiting for the manager to make the serving certificate'
    const certificate = await this.#certificates.first
    this.#server = await GatewayServer.start({ fetch: this.#fetch, certificate, port })
    this.#certificates.onReplaced((replaced) => {
      this.#server?.replaceCertificate(replaced)
      log.info({}, 'serving certificate replaced')
    })
    this.#state = ''
    log.info({ port: this.#server.port }, 'gateway serves')
  }

  get port(): number {
    if (this.#server === undefined) throw new Error('the gateway does not serve yet')
    return this.#server.port
  }

  /** By kind, how long its watch has shown no sign of life, milliseconds. */
  silences(): ReadonlyMap<string, number> {
    return this.#runs.silences()
  }

  /** When the certificates in use end: `serving`, and `ca` where the Secret has one. */
  certificateEnds(): ReadonlyMap<string, Date> {
    return this.#certificates.ends
  }

  /** Why the gateway should get no traffic now; empty when it is ready. */
  problems(): string[] {
    if (this.#state !== '') return [this.#state]
    return this.#runs.problems()
  }

  /** What the gateway cannot do while it is ready: the namespaces that it cannot serve, and why. */
  limits(): string[] {
    return this.#runs.limits()
  }

  /** Lets requests under way finish for up to `graceMillis`. */
  async stop(graceMillis: number): Promise<void> {
    this.#state = 'stopping'
    await this.#server?.stop(graceMillis)
    this.#watches.abort()
    await this.#watching
  }
}
