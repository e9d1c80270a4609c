import { specChangedAt } from '../lib/managed-fields.ts'
import type { Condition, KubeObject } from '../lib/object.ts'

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

/** What was taken out of an object and is needed all the same. */
const changeTimes = new WeakMap<object, string>()

/** Texts that very many objects have in common, each once. Begun anew when it is full, so that rare ones fill it in vain. */
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

/** What is the same in all objects of a kind is kept once, and not once for each. */
function shareTexts({
  metadata,
  status,
}: KubeObject & { readonly status?: { readonly conditions?: Condition[] } }): void {
  if (metadata.namespace !== undefined) metadata.namespace = shared(metadata.namespace)
  if (metadata.creationTimestamp !== undefined) metadata.creationTimestamp = shared(metadata.creationTimestamp)
  for (const owner of metadata.ownerReferences ?? []) {
    owner.apiVersion = shared(owner.apiVersion)
    owner.kind = shared(owner.kind)
  }
  for (const condition of status?.conditions ?? []) {
    condition.type = shared(condition.type)
    condition.reason = shared(condition.reason)
    condition.message = shared(condition.message)
    condition.lastTransitionTime = shared(condition.lastTransitionTime)
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
