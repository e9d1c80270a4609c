import type { Json } from '../lib/json.ts'

/** One operation of RFC 6902. */
export type JsonPatchOp =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: Json }
  | { readonly op: 'remove'; readonly path: string }

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}
export interface WriteOptions extends CallOptions {
  readonly fieldManager?: string | undefined
  /** Validate and admit, store nothing. */
  readonly dryRun?: boolean | undefined
}
export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string
  /** Take fields over from other managers; default true. */
  readonly force?: boolean | undefined
}
export interface StatusOptions extends CallOptions {
  readonly fieldManager: string
}
export interface PatchOptions extends WriteOptions {
  readonly subresource?: string | undefined
}
export interface ListOptions extends CallOptions {
  /** Default: all namespaces. */
  readonly namespace?: string | undefined
  readonly labelSelector?: string | undefined
  readonly fieldSelector?: string | undefined
}
export interface WatchRequest extends ListOptions {
  readonly resourceVersion: string
  /** After this time the server ends the watch in order. */
  readonly timeoutSeconds: number
  readonly idleTimeoutMillis?: number | undefined
}
export interface DeleteOptions extends CallOptions {
  /** Default `Background`. */
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan' | undefined
}
export interface LogOptions extends CallOptions {
  /** Only the last so many bytes. */
  readonly tailBytes?: number | undefined
  /** Only the first so many bytes. */
  readonly limitBytes?: number | undefined
}
export interface Place {
  readonly name: string
  readonly namespace?: string | undefined
}
