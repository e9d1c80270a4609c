import type { WatchRequest } from '../../src/kube/call-options.ts'
import { KubeClient } from '../../src/kube/client.ts'
import { coreTypes } from '../../src/kube/core-types.ts'
import { Transport } from '../../src/kube/transport.ts'
import type { KubeObject, ResourceType } from '../../src/lib/object.ts'
import { testKubeConfig } from './control-plane.ts'

/**
 * A client whose watches of one kind can be held up while everything else works: who caches by it has an old view of
 * that kind, and does not know.
 */
export class DeafClient extends KubeClient {
  readonly #kind: string
  #held: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined

  constructor(kind: ResourceType<KubeObject>, types: readonly ResourceType<KubeObject>[]) {
    super(new Transport(testKubeConfig()), [...coreTypes, ...types])
    this.#kind = kind.kind
  }

  /** From now on nothing is heard of the kind, until {@link hear}. */
  goDeaf(): void {
    this.#held ??= Promise.withResolvers<void>()
  }

  hear(): void {
    this.#held?.resolve()
    this.#held = undefined
  }

  override async watch(type: ResourceType<KubeObject>, request: WatchRequest): Promise<AsyncIterable<Uint8Array>> {
    const stream = await super.watch(type, request)
    return type.kind === this.#kind ? this.#withHolds(stream) : stream
  }

  async *#withHolds(stream: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    for await (const chunk of stream) {
      await this.#held?.promise
      yield chunk
    }
  }
}
