import type { Change } from '../kube/store.ts'
import { type KubeObject, keyOf, type ObjectKey } from '../lib/object.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import type { Caches } from './caches.ts'
import type { Watch } from './controller.ts'
import type { Logger } from './log.ts'
import type { Priority } from './priority.ts'

/** What of a controller says what wakes it, and what it decides by. */
export interface Wakeable {
  readonly name: string
  readonly for: Watch['type']
  readonly watches?: readonly Watch[]
  readonly reads?: readonly Watch['type'][]
}

/** Who is woken. */
export interface Subscriber {
  /** False while nobody is to be woken: which keys a change concerns is not even asked then. */
  readonly isAwake: () => boolean
  readonly wake: (key: ObjectKey, priority: Priority) => void
  /** False for a change of a controlled object that says nothing new. */
  readonly isNews: (change: Change<KubeObject>) => boolean
}

/** Declares the kinds of a controller and wakes each key that a change of one of them concerns. */
export function subscribe(spec: Wakeable, caches: Caches, log: Logger, { isAwake, wake, isNews }: Subscriber): void {
  for (const type of [spec.for, ...(spec.reads ?? [])]) caches.declare(type)
  caches.onChange(spec.for, (change) => {
    if (isAwake() && isNews(change)) wake(change.key, priorityOf(change))
  })
  for (const { type, keys } of spec.watches ?? []) {
    caches.declare(type)
    caches.onChange(type, (change) => {
      if (!isAwake()) return
      const seen = change.old === undefined ? [change.object] : [change.object, change.old]
      for (const key of new Set(seen.flatMap(safely(keys)))) wake(key, priorityOf(change))
    })
  }

  /** A bug in a mapper costs its own keys, not the watch that serves everybody. */
  function safely(keys: Watch['keys']): (object: DeepReadonly<KubeObject>) => readonly ObjectKey[] {
    return (object) => {
      try {
        return keys(object, caches)
      } catch (error) {
        const fields = { error, controller: spec.name, kind: object.kind, object: keyOf(object.metadata) }
        log.error(fields, 'watch could not tell which keys to wake')
        return []
      }
    }
  }
}

function priorityOf(change: Change<KubeObject>): Priority {
  return change.initial ? 'list' : 'event'
}
