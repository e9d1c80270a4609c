import type { DeepReadonly } from '../lib/readonly.ts'

/** One text to be parsed and checked, as it travels to the worker. */
export interface SchemaQuestion {
  readonly id: number
  readonly text: string
  readonly schema: DeepReadonly<Record<string, unknown>>
}

/** Why a text is refused. The message is for people and quotes no values. */
export interface SchemaRefusal {
  readonly kind: 'invalid'
  readonly reason:
    | 'output_invalid_json'
    | 'output_schema_mismatch'
    | 'schema_invalid'
    | 'schema_unsupported'
    | 'schema_timeout'
    | 'schema_memory_exceeded'
  readonly message: string
}

/** The parsed value as compact JSON, or why there is none. */
export type SchemaVerdict = { readonly kind: 'valid'; readonly text: string } | SchemaRefusal

/** What the worker says: once that it listens, then an answer to each question. */
export type SchemaMessage = 'ready' | { readonly id: number; readonly verdict: SchemaVerdict }
