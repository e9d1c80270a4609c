import type { ObjectRef } from '../lib/object.ts'
import type { KubeClient } from './client.ts'
import { type Lease, type LeaseSpec, leaseType } from './core-types.ts'

/** One Lease, as electors use it. */
export interface LeaseRecord {
  readonly ref: ObjectRef
  /** The Lease as it is now; undefined where there is none. */
  read(signal: AbortSignal): Promise<Lease | undefined>
  /**
   * Writes the record as a compare-and-set: a conflict or AlreadyExists where somebody else wrote since `from` was read.
   * @param from the Lease that was read; undefined creates it
   */
  write(from: Lease | undefined, spec: LeaseSpec, signal: AbortSignal): Promise<Lease>
}

/** A Lease in the API server. Give it a client with a transport of its own, so that no list delays a renewal. */
export class KubeLease implements LeaseRecord {
  readonly ref: ObjectRef
  readonly #client: KubeClient
  readonly #namespace: string
  readonly #fieldManager: string

  constructor(
    client: KubeClient,
    options: { readonly namespace: string; readonly name: string; readonly fieldManager: string },
  ) {
    const { namespace, name } = options
    this.ref = { apiVersion: leaseType.apiVersion, kind: leaseType.kind, namespace, name }
    this.#client = client
    this.#namespace = namespace
    this.#fieldManager = options.fieldManager
  }

  read(signal: AbortSignal): Promise<Lease | undefined> {
    return this.#client.find(leaseType, { namespace: this.#namespace, name: this.ref.name }, { signal })
  }

  async write(from: Lease | undefined, spec: LeaseSpec, signal: AbortSignal): Promise<Lease> {
    const options = { fieldManager: this.#fieldManager, signal }
    const { apiVersion, kind, name } = this.ref
    if (from === undefined) {
      const metadata = { namespace: this.#namespace, name }
      return this.#client.create<Lease>({ apiVersion, kind, metadata, spec }, options)
    }
    const { uid = '', resourceVersion = '' } = from.metadata
    return this.#client.mergePatch({ ...this.ref, uid }, { metadata: { resourceVersion }, spec: { ...spec } }, options)
  }
}
