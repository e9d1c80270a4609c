import type { JsonObject } from '../lib/json.ts'
import type { KubeObject, ObjectRef, ResourceType } from '../lib/object.ts'
import { applyBody, applyStatusBody } from './apply.ts'
import type {
  ApplyOptions,
  CallOptions,
  DeleteOptions,
  JsonPatchOp,
  ListOptions,
  LogOptions,
  PatchOptions,
  Place,
  StatusOptions,
  WatchRequest,
  WriteOptions,
} from './call-options.ts'
import { isNotFound, KubeError } from './error.ts'
import { collectionPath, objectPath, requireNamespace } from './paths.ts'
import { refusalIn } from './pod-logs.ts'
import { applyPatch } from './request.ts'
import { readTail } from './tail.ts'
import type { Transport } from './transport.ts'

const pageSize = 500

/**
 * Typed access to the kinds it is given. Objects go out and come back as they are on the wire. Everything refused is a
 * `KubeError`; unknown fields are refused (`fieldValidation=Strict`).
 */
export class KubeClient {
  readonly transport: Transport
  readonly #types = new Map<string, ResourceType<KubeObject>>()

  constructor(transport: Transport, types: readonly ResourceType<KubeObject>[]) {
    this.transport = transport
    for (const type of types) this.#types.set(`${type.apiVersion} ${type.kind}`, type)
  }

  /** Where a kind lives. Throws for a kind that was not given to the constructor. */
  typeOf(apiVersion: string, kind: string): ResourceType<KubeObject> {
    const type = this.#types.get(`${apiVersion} ${kind}`)
    if (type === undefined) throw new TypeError(`this client does not know ${kind} of ${apiVersion}`)
    return type
  }

  /** Reads the live object. */
  async get<T extends KubeObject>(type: ResourceType<T>, at: Place, options: CallOptions = {}): Promise<T> {
    return this.transport.request<T>({ path: objectPath(type, at), ref: refOf(type, at), signal: options.signal })
  }

  /** Reads the live object; undefined where there is none. */
  async find<T extends KubeObject>(
    type: ResourceType<T>,
    at: Place,
    options: CallOptions = {},
  ): Promise<T | undefined> {
    try {
      return await this.get(type, at, options)
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }

  /**
   * Reads all objects of a kind, page by page, as they were at one moment: the returned version.
   * @param keep is given every object as soon as its page is there, and returns what to keep of it
   */
  async list<T extends KubeObject>(
    type: ResourceType<T>,
    options: ListOptions = {},
    keep: (object: T) => T = (object) => object,
  ): Promise<{ items: T[]; resourceVersion: string }> {
    const items: T[] = []
    let next: string | undefined
    let limit = pageSize
    for (;;) {
      let page: Page<T>
      try {
        page = await this.#page(type, options, limit, next)
      } catch (error) {
        if (!(error instanceof KubeError) || error.reason !== 'ResponseTooLarge' || limit === 1) throw error
        limit = Math.ceil(limit / 5)
        continue
      }
      for (const item of page.items ?? []) {
        items.push(keep({ ...item, apiVersion: type.apiVersion, kind: type.kind }))
      }
      next = page.metadata.continue
      if (next === undefined || next === '') return { items, resourceVersion: page.metadata.resourceVersion }
    }
  }

  #page<T>(type: ResourceType<KubeObject>, options: ListOptions, limit: number, next: string | undefined) {
    const { namespace, labelSelector, fieldSelector, signal } = options
    return this.transport.request<Page<T>>({
      path: collectionPath(type, namespace),
      query: { limit, continue: next, labelSelector, fieldSelector },
      signal,
    })
  }

  /** Opens one watch; `watch.ts` keeps one going. */
  async watch(type: ResourceType<KubeObject>, request: WatchRequest): Promise<AsyncIterable<Uint8Array>> {
    const { namespace, labelSelector, fieldSelector, resourceVersion, timeoutSeconds } = request
    const position = { resourceVersion, timeoutSeconds, allowWatchBookmarks: true }
    return this.transport.stream({
      path: collectionPath(type, namespace),
      query: { watch: true, ...position, labelSelector, fieldSelector },
      signal: request.signal,
      idleTimeoutMillis: request.idleTimeoutMillis,
    })
  }

  /** Creates an object. Creating is the lock: a taken name is `isAlreadyExists`. */
  async create<T extends KubeObject>(object: T, options: WriteOptions = {}): Promise<T> {
    const type = this.typeOf(object.apiVersion, object.kind)
    requireNamespace(type, object.metadata)
    const { name, ...unnamed } = object.metadata
    return this.transport.request<T>({
      method: 'POST',
      path: collectionPath(type, object.metadata.namespace),
      query: writeQuery(options),
      body: name === '' ? { ...object, metadata: unnamed } : object,
      ref: refOf(type, object.metadata),
      signal: options.signal,
    })
  }

  /**
   * Server-side apply of everything in `object` but its status: creates it, or makes the fields this manager owns
   * exactly these. With `metadata.uid` it changes that very object or is a conflict; it never brings one back to life.
   */
  async apply<T extends KubeObject>(object: T, options: ApplyOptions): Promise<T> {
    const type = this.typeOf(object.apiVersion, object.kind)
    return this.transport.request<T>({
      method: 'PATCH',
      path: objectPath(type, object.metadata),
      query: { ...writeQuery(options), force: options.force ?? true },
      body: applyBody(object),
      contentType: applyPatch,
      ref: refOf(type, object.metadata),
      signal: options.signal,
    })
  }

  /**
   * Server-side apply of `object.status`, as a compare-and-set: `metadata.resourceVersion` is required, and a stale one
   * is `isConflict`. Without it a stale apply would delete what it does not know of.
   */
  async applyStatus<T extends KubeObject>(object: T, options: StatusOptions): Promise<T> {
    const type = this.typeOf(object.apiVersion, object.kind)
    return this.transport.request<T>({
      method: 'PATCH',
      path: objectPath(type, object.metadata, 'status'),
      query: { ...writeQuery(options), force: true },
      body: applyStatusBody(object),
      contentType: applyPatch,
      ref: refOf(type, object.metadata),
      signal: options.signal,
    })
  }

  /** JSON patch (RFC 6902), with a test of the uid where `ref` has one. */
  async patchJson(ref: ObjectRef, ops: readonly JsonPatchOp[], options: PatchOptions = {}): Promise<KubeObject> {
    const testUid: JsonPatchOp[] = ref.uid === undefined ? [] : [{ op: 'test', path: '/metadata/uid', value: ref.uid }]
    return this.#patch(ref, [...testUid, ...ops], 'application/json-patch+json', options)
  }

  /** JSON merge patch (RFC 7396): null removes a field. Where `ref` has a uid, another object is a conflict. */
  async mergePatch(ref: ObjectRef, patch: JsonObject, options: PatchOptions = {}): Promise<KubeObject> {
    const metadata = patch.metadata as JsonObject | undefined
    const body = ref.uid === undefined ? patch : { ...patch, metadata: { ...metadata, uid: ref.uid } }
    return this.#patch(ref, body, 'application/merge-patch+json', options)
  }

  #patch(ref: ObjectRef, body: unknown, contentType: string, options: PatchOptions): Promise<KubeObject> {
    return this.transport.request<KubeObject>({
      method: 'PATCH',
      path: objectPath(this.typeOf(ref.apiVersion, ref.kind), ref, options.subresource),
      query: writeQuery(options),
      body,
      contentType,
      ref,
      signal: options.signal,
    })
  }

  /** Deletes an object; one that is gone already is fine. Where `ref` has a uid, another object is a conflict. */
  async delete(ref: ObjectRef, options: DeleteOptions = {}): Promise<void> {
    const propagationPolicy = options.propagation ?? 'Background'
    const preconditions = ref.uid === undefined ? {} : { preconditions: { uid: ref.uid } }
    try {
      await this.transport.request({
        method: 'DELETE',
        path: objectPath(this.typeOf(ref.apiVersion, ref.kind), ref),
        body: { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy, ...preconditions },
        ref,
        signal: options.signal,
      })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  /** POSTs to a subresource of `ref`: a `TokenRequest` to `token` of a ServiceAccount. */
  async createSubresource<T extends KubeObject>(
    ref: ObjectRef,
    subresource: string,
    body: Omit<T, 'metadata' | 'status'>,
    options: CallOptions = {},
  ): Promise<T> {
    return this.transport.request<T>({
      method: 'POST',
      path: objectPath(this.typeOf(ref.apiVersion, ref.kind), ref, subresource),
      body,
      ref,
      signal: options.signal,
    })
  }

  /** What a container has written so far. @throws {KubeError} of status 410 where its node no longer has that */
  async logs(pod: Place, container: string, options: LogOptions = {}): Promise<string> {
    const { tailBytes, limitBytes, signal } = options
    const type = this.typeOf('v1', 'Pod')
    const stream = await this.transport.stream({
      path: objectPath(type, pod, 'log'),
      // As many bytes hold at most as many lines.
      query: { container, limitBytes, tailLines: tailBytes },
      ref: refOf(type, pod),
      signal,
      idleTimeoutMillis: 30_000,
    })
    const text = await readTail(stream, tailBytes ?? limitBytes ?? Number.POSITIVE_INFINITY)
    const refusal = refusalIn(text)
    if (refusal === undefined) return text
    throw new KubeError({ status: 410, reason: 'Gone', message: refusal, ref: refOf(type, pod) })
  }

  /** `GET /version`. */
  async version(options: CallOptions = {}): Promise<{ gitVersion: string; major: string; minor: string }> {
    return this.transport.request({ path: '/version', signal: options.signal })
  }

  /** `GET /readyz`: returns when the server says that it is ready, else throws. */
  async ready(options: CallOptions = {}): Promise<void> {
    await this.transport.text({ path: '/readyz', signal: options.signal })
  }
}

interface Page<T> {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
  readonly items: readonly T[] | null
}

function refOf(type: ResourceType<KubeObject>, at: Place): ObjectRef {
  const { apiVersion, kind } = type
  return { apiVersion, kind, name: at.name, ...(at.namespace === undefined ? {} : { namespace: at.namespace }) }
}

function writeQuery(options: WriteOptions) {
  const { fieldManager, dryRun } = options
  return { fieldManager, dryRun: dryRun === true ? 'All' : undefined, fieldValidation: 'Strict' }
}
