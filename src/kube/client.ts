import type { Json, JsonObject } from '../lib/json.ts'
import type { KubeObject, ObjectRef, ResourceType } from '../lib/object.ts'
import type { Transport } from './transport.ts'

/** One operation of RFC 6902. */
export type JsonPatchOp =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: Json }
  | { readonly op: 'remove'; readonly path: string }

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}
export interface WriteOptions extends CallOptions {
  readonly fieldManager?: string
  /** Validate and admit, store nothing. */
  readonly dryRun?: boolean
}
export interface ApplyOptions extends CallOptions {
  readonly fieldManager: string
  /** Take fields over from other managers; default true. */
  readonly force?: boolean
  readonly dryRun?: boolean
}
export interface PatchOptions extends WriteOptions {
  readonly subresource?: string
}
export interface ListOptions extends CallOptions {
  readonly namespace?: string | undefined
  readonly labelSelector?: string | undefined
  readonly fieldSelector?: string | undefined
}
export interface DeleteOptions extends CallOptions {
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan'
}
export interface LogOptions extends CallOptions {
  /** Only the last so many bytes. */
  readonly tailBytes?: number
  /** Only the first so many bytes. */
  readonly limitBytes?: number
}
export interface Place {
  readonly name: string
  readonly namespace?: string
}

export class KubeClient {
  readonly transport: Transport
  constructor(transport: Transport, _types: readonly ResourceType<KubeObject>[]) {
    this.transport = transport
  }
  typeOf(_apiVersion: string, _kind: string): ResourceType<KubeObject> {
    throw new Error('not written yet')
  }
  async get<T extends KubeObject>(_type: ResourceType<T>, _at: Place, _options: CallOptions = {}): Promise<T> {
    throw new Error('not written yet')
  }
  async list<T extends KubeObject>(
    _type: ResourceType<T>,
    _options: ListOptions = {},
  ): Promise<{ items: T[]; resourceVersion: string }> {
    throw new Error('not written yet')
  }
  async create<T extends KubeObject>(_object: T, _options: WriteOptions = {}): Promise<T> {
    throw new Error('not written yet')
  }
  async apply<T extends KubeObject>(_object: T, _options: ApplyOptions): Promise<T> {
    throw new Error('not written yet')
  }
  async applyStatus<T extends KubeObject>(
    _object: T,
    _options: { readonly fieldManager: string; readonly signal?: AbortSignal | undefined },
  ): Promise<T> {
    throw new Error('not written yet')
  }
  async patchJson(_ref: ObjectRef, _ops: readonly JsonPatchOp[], _options: PatchOptions = {}): Promise<KubeObject> {
    throw new Error('not written yet')
  }
  async mergePatch(_ref: ObjectRef, _patch: JsonObject, _options: PatchOptions = {}): Promise<KubeObject> {
    throw new Error('not written yet')
  }
  async delete(_ref: ObjectRef, _options: DeleteOptions = {}): Promise<void> {}
  /** POSTs `object` to a subresource of `ref`, such as `serviceaccounts/NAME/token`. */
  async createSubresource<T extends KubeObject>(
    _ref: ObjectRef,
    _subresource: string,
    _object: Omit<T, 'metadata'>,
    _options: CallOptions = {},
  ): Promise<T> {
    throw new Error('not written yet')
  }
  async logs(_pod: Place, _container: string, _options: LogOptions = {}): Promise<string> {
    throw new Error('not written yet')
  }
  /** `GET /version`. */
  async version(_options: CallOptions = {}): Promise<{ gitVersion: string; major: string; minor: string }> {
    throw new Error('not written yet')
  }
  /** `GET /readyz`: returns when the server says it is ready, else throws. */
  async ready(_options: CallOptions = {}): Promise<void> {}
}
