import { annotations } from '../api/labels.ts'
import { type Identified, refOf } from '../lib/object.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { beginningOf } from '../lib/text.ts'
import type { Annotated } from '../runtime/result.ts'

/** Characters of a reason that people gave. */
const reasonLimit = 256

interface Cancellable {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> }
}

/** Why the object is to end, in words of whoever asked for it; undefined where nobody did. */
export function cancelRequest({ metadata }: Cancellable): string | undefined {
  const said = metadata.annotations?.[annotations.cancelRequested]
  if (said === undefined) return undefined
  const words = said.replace(/[\s\p{Cc}]+/gu, ' ').trim()
  return words === '' ? 'no reason was given' : beginningOf(words, reasonLimit)
}

/** Asks an object to end: its own reconciler brings that about. */
export function askToEnd(object: DeepReadonly<Identified>, why: string): Annotated {
  return { ref: refOf(object), annotations: { [annotations.cancelRequested]: why } }
}
