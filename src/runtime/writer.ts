import type { KubeClient } from '../kube/client.ts'
import { addFinalizer, removeFinalizer } from '../kube/finalizers.ts'
import { type KubeObject, type ObjectRef, refOf } from '../lib/object.ts'
import type { Annotated, Patched } from './result.ts'

/** One write to the API server. */
export interface Write {
  /** Counts the writes of the process, from 1. */
  readonly number: number
  readonly verb:
    | 'create'
    | 'apply'
    | 'patch'
    | 'annotate'
    | 'apply status'
    | 'delete'
    | 'add finalizer'
    | 'remove finalizer'
  readonly ref: ObjectRef
}

/**
 * Called before and after each write of the controllers; the write waits for it. Crash tests kill the process here: the
 * number of the write says where, the moment whether the server has seen it. `after` is not called for a failed write.
 */
export type Faults = (moment: 'before' | 'after', write: Write) => void | Promise<void>

export interface WriterOptions {
  readonly faults?: Faults | undefined
  /** Asked before each write; default always. */
  readonly mayWrite?: (() => boolean) | undefined
}

/** Every write of every controller goes through here. */
export class Writer {
  readonly #client: KubeClient
  readonly #options: WriterOptions
  #count = 0

  constructor(client: KubeClient, options: WriterOptions = {}) {
    this.#client = client
    this.#options = options
  }

  create(object: KubeObject, fieldManager: string): Promise<KubeObject> {
    return this.#write('create', refOf(object), () => this.#client.create(object, { fieldManager }))
  }

  apply(object: KubeObject, fieldManager: string): Promise<KubeObject> {
    return this.#write('apply', refOf(object), () => this.#client.apply(object, { fieldManager }))
  }

  /** Refused as a conflict where the object has another version by now. */
  patch({ ref, resourceVersion, patch }: Patched, fieldManager: string): Promise<KubeObject> {
    const body = { ...patch, metadata: { resourceVersion } }
    return this.#write('patch', ref, () => this.#client.mergePatch(ref, body, { fieldManager }))
  }

  annotate({ ref, annotations }: Annotated, fieldManager: string): Promise<KubeObject> {
    const patch = { metadata: { annotations: { ...annotations } } }
    return this.#write('annotate', ref, () => this.#client.mergePatch(ref, patch, { fieldManager }))
  }

  applyStatus(object: KubeObject, fieldManager: string): Promise<KubeObject> {
    return this.#write('apply status', refOf(object), () => this.#client.applyStatus(object, { fieldManager }))
  }

  delete(ref: ObjectRef): Promise<void> {
    return this.#write('delete', ref, () => this.#client.delete(ref, { propagation: 'Background' }))
  }

  addFinalizer(object: KubeObject, finalizer: string): Promise<void> {
    return this.#write('add finalizer', refOf(object), () => addFinalizer(this.#client, object, finalizer))
  }

  removeFinalizer(object: KubeObject, finalizer: string): Promise<void> {
    return this.#write('remove finalizer', refOf(object), () => removeFinalizer(this.#client, object, finalizer))
  }

  async #write<R>(verb: Write['verb'], ref: ObjectRef, send: () => Promise<R>): Promise<R> {
    const { faults, mayWrite } = this.#options
    if (mayWrite?.() === false)
      throw new Error(`${verb} of ${ref.kind} ${ref.name}: this process does not lead any more`)
    if (faults === undefined) return send()
    this.#count += 1
    const write = { number: this.#count, verb, ref }
    await faults('before', write)
    const answer = await send()
    await faults('after', write)
    return answer
  }
}
