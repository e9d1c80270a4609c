import { type KubeObject, type ResourceType, resourceOf } from '../lib/object.ts'

/** What is looked at of an informer of one namespace. */
export interface Watched {
  readonly type: ResourceType<KubeObject>
  readonly store: { readonly hasSynced: boolean }
  readonly refusal: string | undefined
  onStateChange(handler: () => void): void
}

/** Told of a namespace when it can be served, with `undefined`, and with the reason when it cannot. */
export type ServedHandler = (namespace: string, refusal: string | undefined) => void

/**
 * Which namespaces can be served by a process that has rights in some only. One is served while all its kinds are listed
 * and watched. A namespace may not exist yet, be deleted and made again, or lose the rights that were given there: that
 * costs this namespace and no other, and the informers go on trying.
 */
export class ServedNamespaces {
  readonly #onChange: ServedHandler
  readonly #watched = new Map<string, Watched[]>()
  /** What was told last: served, or the refusal. */
  readonly #told = new Map<string, string | undefined>()
  readonly #settled = new Map<string, PromiseWithResolvers<void>>()

  constructor(onChange: ServedHandler) {
    this.#onChange = onChange
  }

  /** Adds an informer of this namespace, before it starts. */
  add(namespace: string, informer: Watched): void {
    const present = this.#watched.get(namespace)
    if (present !== undefined) present.push(informer)
    else this.#watched.set(namespace, [informer])
    if (present === undefined) this.#settled.set(namespace, Promise.withResolvers())
    informer.onStateChange(() => this.#review(namespace))
  }

  /** True for a namespace that is served, and where no namespaces were given. */
  serves(namespace: string | undefined): boolean {
    const watched = this.#watched.size === 0 || namespace === undefined ? [] : this.#watched.get(namespace)
    return watched?.every(isWhole) === true
  }

  /** True when there are namespaces, and all are refused. */
  get servesNone(): boolean {
    return this.#watched.size > 0 && [...this.#watched.values()].every((all) => all.some(isRefused))
  }

  /** Resolves when each namespace is served, or is known to be refused. */
  async settled(): Promise<void> {
    await Promise.all([...this.#settled.values()].map(({ promise }) => promise))
  }

  /** Namespaces that are not served, and which rights are missing in them: one text each. */
  refusals(): string[] {
    return [...this.#watched.keys()].flatMap((namespace) => this.#refusalOf(namespace) ?? [])
  }

  #review(namespace: string): void {
    const refusal = this.#refusalOf(namespace)
    if (refusal === undefined && !this.serves(namespace)) return
    this.#settled.get(namespace)?.resolve()
    if (this.#told.has(namespace) && this.#told.get(namespace) === refusal) return
    this.#told.set(namespace, refusal)
    this.#onChange(namespace, refusal)
  }

  #refusalOf(namespace: string): string | undefined {
    const refused = (this.#watched.get(namespace) ?? []).filter(isRefused)
    if (refused.length === 0) return undefined
    const kinds = refused.map(({ type }) => resourceOf(type)).sort()
    return (
      `namespace ${namespace} is not served: list and watch are forbidden there for ${kinds.join(', ')}; ` +
      'does the namespace exist, and are the Role and RoleBinding of this process in it?'
    )
  }
}

function isWhole({ store, refusal }: Watched): boolean {
  return store.hasSynced && refusal === undefined
}

function isRefused({ refusal }: Watched): boolean {
  return refusal !== undefined
}
