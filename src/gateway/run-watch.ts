import { type Run, run as runKind } from '../api/run.ts'
import type { KubeClient } from '../kube/client.ts'
import { Informer } from '../kube/informer.ts'
import { longestSilenceMillis, type WatchRestartReason } from '../kube/pacing.ts'
import { ServedNamespaces } from '../kube/served-namespaces.ts'
import type { Logger } from '../runtime/log.ts'
import { runIndexes } from './pod-directory.ts'

export interface RunWatchOptions {
  readonly client: KubeClient
  /** Namespaces to look at; none: all. */
  readonly namespaces: readonly string[]
  readonly log: Logger
  readonly onRestart?: ((kind: string, reason: WatchRestartReason) => void) | undefined
}

/** The Runs of all namespaces, or of those that the gateway is limited to. */
export class RunWatch {
  readonly informers: readonly Informer<Run>[]
  readonly #options: RunWatchOptions
  readonly #served: ServedNamespaces

  constructor(options: RunWatchOptions) {
    const { namespaces, log } = options
    this.#options = options
    this.#served = new ServedNamespaces((namespace, refusal) => {
      if (refusal === undefined) log.info({ namespace }, 'namespace is served')
      else log.warn({ namespace, detail: refusal }, 'namespace is not served')
    })
    this.informers = (namespaces.length === 0 ? [undefined] : namespaces).map((namespace) => this.#informer(namespace))
  }

  /** Until the signal aborts. */
  async start(signal: AbortSignal): Promise<void> {
    await Promise.all(this.informers.map((informer) => informer.start(signal)))
  }

  /** Resolves when the Runs are listed, but for namespaces in which that is forbidden. */
  async synced(): Promise<void> {
    const all = this.informers.filter(({ namespace }) => namespace === undefined)
    await Promise.all([this.#served.settled(), ...all.map((informer) => informer.synced)])
  }

  /** Why the list of Runs may be out of date; empty while it is not. */
  problems(): string[] {
    if (this.#served.servesNone) return this.limits()
    const silent = this.informers.filter(
      ({ refusal, namespace, silentMillis }) =>
        (refusal === undefined || namespace === undefined) && silentMillis > longestSilenceMillis,
    )
    return silent.map(({ problem }) => problem ?? 'no sign of life from the watch on Runs')
  }

  /** By kind, how long the most silent watch has shown no sign of life, milliseconds. */
  silences(): ReadonlyMap<string, number> {
    const heard = this.informers.filter(({ refusal, namespace }) => refusal === undefined || namespace === undefined)
    return new Map(heard.length === 0 ? [] : [[runKind.kind, Math.max(...heard.map((one) => one.silentMillis))]])
  }

  /** Which of the given namespaces cannot be served, and why. */
  limits(): string[] {
    return this.#served.refusals()
  }

  #informer(namespace: string | undefined): Informer<Run> {
    const { client, log, onRestart } = this.#options
    const informer = new Informer(client, runKind, {
      namespace,
      indexes: runIndexes,
      onRestart: (reason, message) => {
        const fields = { kind: runKind.kind, namespace, reason, detail: message }
        // What is forbidden is tried for ever, and told once for each namespace.
        const isTold = reason === 'forbidden' && namespace !== undefined
        if (reason === 'closed' || isTold) log.debug(fields, 'watch starts again')
        else log.warn(fields, 'watch broke and starts again')
        onRestart?.(runKind.kind, reason)
      },
    })
    if (namespace !== undefined) this.#served.add(namespace, informer)
    return informer
  }
}
