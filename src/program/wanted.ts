import type { Content } from '../api/fields.ts'
import type { DeepReadonly } from '../lib/readonly.ts'

/** A Session to be created. The same step always wants the same Session. */
export interface SessionWanted {
  readonly step: string
  readonly name: string
  /** Name of the Agent; the firing's admission has its pin. */
  readonly agent: string
  readonly prompt: Content
  readonly bindings?: Readonly<Record<string, Content>>
  readonly timeoutSeconds?: number
  /** References of the prompt to what the event lacks; they rendered empty. */
  readonly missing: readonly string[]
}

/** A text to be parsed and checked against a schema, in a worker. */
export interface ParseWanted {
  readonly step: string
  readonly text: string
  readonly schema: DeepReadonly<Record<string, unknown>>
}
