import type { KubeClient } from '../kube/client.ts'
import { Informer } from '../kube/informer.ts'
import { longestSilenceMillis, type WatchTiming } from '../kube/pacing.ts'
import { ServedNamespaces } from '../kube/served-namespaces.ts'
import type { Change } from '../kube/store.ts'
import type { KubeObject, ObjectKey, ResourceType } from '../lib/object.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import {
  type CachedKind,
  type CacheOptions,
  cachedKind,
  extendKind,
  idOf,
  informerFor,
  isSelected,
  ownerIndex,
} from './cached-kind.ts'
import type { Reader } from './result.ts'

export interface CachesOptions {
  readonly client: KubeClient
  /** Namespaces to look at; default all. */
  readonly namespaces?: readonly string[] | undefined
  /** Freeze what is cached to any depth: tests find whoever changes it. */
  readonly freeze?: boolean | undefined
  /** Default {@link longestSilenceMillis}, in real time: that is what servers go by. */
  readonly silenceMillis?: number | undefined
  readonly watchTiming?: Partial<WatchTiming> | undefined
  /** A list or watch of a kind was started again. */
  readonly onRestart?: (type: ResourceType<KubeObject>, reason: string, message: string) => void
  /** One of the given namespaces can be served now, or for this reason not. */
  readonly onServed?: (namespace: string, refusal: string | undefined) => void
}

/** A cache of some kind. What the type parameter says is true by construction: caches are found by their type. */
type AnyKind = CachedKind<KubeObject>

/** The caches of a process: one per kind, shared by everything that reads it. */
export class Caches implements Reader {
  readonly #options: CachesOptions
  readonly #kinds = new Map<string, AnyKind>()
  readonly #served: ServedNamespaces
  readonly #servedHandlers: ((namespace: string) => void)[] = []
  #started = false

  constructor(options: CachesOptions) {
    this.#options = options
    this.#served = new ServedNamespaces((namespace, refusal) => {
      options.onServed?.(namespace, refusal)
      if (refusal === undefined) for (const handler of this.#servedHandlers) handler(namespace)
    })
  }

  /** Caches a kind. May be called again for it, to add indexes. Everything is declared before the start. */
  declare<T extends KubeObject>(type: ResourceType<T>, options: CacheOptions<T> = {}): void {
    const id = idOf(type)
    if (this.#started) throw new Error(`${type.kind} cannot be declared after the caches were started`)
    const present = this.#kinds.get(id)
    if (present === undefined) this.#kinds.set(id, cachedKind(type, options) as unknown as AnyKind)
    else extendKind(present, options as CacheOptions<KubeObject>)
  }

  /** Calls the handler for every change of the kind. It runs inside the reading loop: it notes keys and returns. */
  onChange<T extends KubeObject>(type: ResourceType<T>, handler: (change: Change<T>) => void): void {
    this.#kind(type).handlers.push(handler)
  }

  /** Lists and watches until the signal is aborted; resolves then. */
  async start(signal: AbortSignal): Promise<void> {
    this.#started = true
    const runs: Promise<void>[] = []
    for (const kind of this.#kinds.values()) {
      for (const namespace of this.#namespacesOf(kind.type)) {
        const informer = this.#informer(kind, namespace)
        kind.informers.set(namespace, informer)
        runs.push(informer.start(signal))
      }
    }
    await Promise.all(runs)
  }

  /**
   * Resolves when every kind has been listed, but for the namespaces that were given and where that is forbidden: these
   * follow when it is not. Call it after {@link start}.
   */
  async synced(): Promise<void> {
    const all = this.#informers().filter(({ namespace }) => namespace === undefined)
    await Promise.all([this.#served.settled(), ...all.map((informer) => informer.synced)])
  }

  /** False for a namespace of which something is not, or no longer, known: what is seen there must not be acted upon. */
  serves(namespace: string | undefined): boolean {
    return this.#served.serves(namespace)
  }

  /** Called when a namespace can be served, at first and again. Before the start. */
  onServed(handler: (namespace: string) => void): void {
    this.#servedHandlers.push(handler)
  }

  /** Which of the given namespaces cannot be served, and which rights are missing there: one text each. */
  refusals(): string[] {
    return this.#served.refusals()
  }

  /**
   * Why some cache may be out of date, one text each: not listed yet, failing, or silent for too long. Namespaces that
   * cannot be served ({@link refusals}) are a problem where there is no other.
   */
  problems(): string[] {
    if (!this.#started) return ['the caches have not been started']
    if (this.#served.servesNone) return this.refusals()
    return this.#allowed().flatMap((informer) => this.#problemOf(informer))
  }

  /** As {@link problems}, for what these kinds hold of one namespace, or of the whole cluster. */
  problemsFor(types: readonly ResourceType<KubeObject>[], namespace: string | undefined): string[] {
    return types.flatMap((type) => {
      const informer = informerFor(this.#kind(type), namespace)
      return informer === undefined ? [] : this.#problemOf(informer)
    })
  }

  /** Of the kinds that are cached, how long the most silent watch of each has shown no sign of life, milliseconds. */
  silences(): ReadonlyMap<string, number> {
    const silences = new Map<string, number>()
    for (const { type, silentMillis } of this.#allowed()) {
      silences.set(type.kind, Math.max(silentMillis, silences.get(type.kind) ?? 0))
    }
    return silences
  }

  has(type: ResourceType<KubeObject>): boolean {
    return this.#kinds.has(idOf(type))
  }

  /**
   * True when the cache has seen everything of the kind up to this resourceVersion, or will never see this object.
   * Versions of one kind grow (KEP-5504).
   */
  hasSeen(type: ResourceType<KubeObject>, written: KubeObject): boolean {
    const kind = this.#kinds.get(idOf(type))
    const version = written.metadata.resourceVersion
    if (kind === undefined || version === undefined || !isSelected(written, kind.labelSelector)) return true
    const informer = informerFor(kind, written.metadata.namespace)
    return informer === undefined || informer.observedVersion >= BigInt(version)
  }

  get<T extends KubeObject>(type: ResourceType<T>, key: ObjectKey): DeepReadonly<T> | undefined {
    const kind = this.#kind(type)
    const slash = key.indexOf('/')
    const informer = informerFor(kind, slash < 0 ? undefined : key.slice(0, slash))
    return informer?.store.get(key)
  }

  list<T extends KubeObject>(type: ResourceType<T>, namespace?: string): readonly DeepReadonly<T>[] {
    return [...this.#kind(type).informers.values()].flatMap((informer) => informer.store.list(namespace))
  }

  byIndex<T extends KubeObject>(type: ResourceType<T>, index: string, value: string): readonly DeepReadonly<T>[] {
    return [...this.#kind(type).informers.values()].flatMap((informer) => informer.store.byIndex(index, value))
  }

  byOwner<T extends KubeObject>(type: ResourceType<T>, ownerUid: string): readonly DeepReadonly<T>[] {
    return this.byIndex(type, ownerIndex, ownerUid)
  }

  specChangedAt<T extends KubeObject>(type: ResourceType<T>, key: ObjectKey): string | undefined {
    for (const informer of this.#kind(type).informers.values()) {
      const time = informer.store.specChangedAt(key)
      if (time !== undefined) return time
    }
    return undefined
  }

  #kind<T extends KubeObject>(type: ResourceType<T>): CachedKind<T> {
    const kind = this.#kinds.get(idOf(type))
    if (kind !== undefined) return kind as unknown as CachedKind<T>
    throw new Error(`${type.kind} is not cached: name it in the controller's watches or reads, or declare its informer`)
  }

  #problemOf({ type, store, silentMillis, problem }: Informer<KubeObject>): string[] {
    const why = problem === undefined ? '' : `: ${problem}`
    if (!store.hasSynced) return [`${type.plural}: not listed yet${why}`]
    const isSilent = silentMillis > (this.#options.silenceMillis ?? longestSilenceMillis)
    return isSilent ? [`${type.plural}: no sign of life from the watch${why}`] : []
  }

  #namespacesOf(type: ResourceType<KubeObject>): readonly string[] {
    const { namespaces } = this.#options
    return type.namespaced && namespaces !== undefined && namespaces.length > 0 ? namespaces : ['']
  }

  #informer(kind: AnyKind, namespace: string): Informer<KubeObject> {
    const { client, freeze, watchTiming, onRestart } = this.#options
    const informer = new Informer(client, kind.type, {
      indexes: kind.indexes,
      labelSelector: kind.labelSelector,
      trim: kind.trim,
      freeze,
      timing: watchTiming,
      namespace: namespace === '' ? undefined : namespace,
      onRestart: (reason, message) => onRestart?.(kind.type, reason, message),
    })
    informer.onChange((change) => {
      for (const handler of kind.handlers) handler(change)
    })
    if (namespace !== '') this.#served.add(namespace, informer)
    return informer
  }

  /** Without those of the given namespaces that cannot be served. */
  #allowed(): Informer<KubeObject>[] {
    return this.#informers().filter(({ refusal, namespace }) => refusal === undefined || namespace === undefined)
  }

  #informers(): Informer<KubeObject>[] {
    return [...this.#kinds.values()].flatMap((kind) => [...kind.informers.values()])
  }
}
