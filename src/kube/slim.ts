import { specChangedAt } from '../lib/managed-fields.ts'
import type { Condition, KubeObject } from '../lib/object.ts'

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

/** What was taken out of an object and is needed all the same. */
const changeTimes = new WeakMap<object, string>()

/**
 * Texts that very many objects have in common, each once. Begun anew when it is full: texts that one object alone has, such
 * as messages with names in them, would fill it for good.
 */
let texts = new Map<string, string>()
const maxTexts = 10_000

/**
 * Takes out of an object, in place, what no controller reads and what is often most of it: managedFields and the
 * annotation of client-side apply. Slimming it again changes nothing.
 */
export function slim(object: KubeObject): void {
  const { managedFields, annotations, ...metadata } = object.metadata
  const changedAt = specChangedAt(managedFields ?? [])
  if (changedAt !== undefined) changeTimes.set(object, changedAt)
  // A new object: V8 keeps one that something was deleted from as a hash table, three times as large.
  const kept = withoutLastApplied(annotations)
  object.metadata = kept === undefined ? metadata : { ...metadata, annotations: kept }
  shareTexts(object)
}

/** Kubernetes' own kinds leave some of these out, or null. */
const conditionTexts = ['type', 'reason', 'message', 'lastTransitionTime'] as const

type WithConditions = KubeObject & { readonly status?: { readonly conditions?: Partial<Condition>[] } }

/** What many objects have in common is kept once, and not once for each. */
function shareTexts({ metadata, status }: WithConditions): void {
  if (metadata.namespace !== undefined) metadata.namespace = shared(metadata.namespace)
  if (metadata.creationTimestamp !== undefined) metadata.creationTimestamp = shared(metadata.creationTimestamp)
  for (const owner of metadata.ownerReferences ?? []) {
    owner.apiVersion = shared(owner.apiVersion)
    owner.kind = shared(owner.kind)
  }
  for (const condition of status?.conditions ?? []) {
    for (const field of conditionTexts) {
      const text = condition[field]
      if (typeof text === 'string') condition[field] = shared(text)
    }
  }
}

function shared(text: string): string {
  const known = texts.get(text)
  if (known !== undefined) return known
  if (texts.size >= maxTexts) texts = new Map()
  texts.set(text, text)
  return text
}

/** Of a slimmed object: the newest time (RFC 3339) at which an owner of a part of `spec` changed something. */
export function slimmedChangeTime(object: object): string | undefined {
  return changeTimes.get(object)
}

function withoutLastApplied(annotations: Record<string, string> | undefined): Record<string, string> | undefined {
  if (annotations?.[lastApplied] === undefined) return annotations
  const { [lastApplied]: _, ...kept } = annotations
  return Object.keys(kept).length === 0 ? undefined : kept
}
