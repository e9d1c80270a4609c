import { labels as labelNames, managedByValue } from '../api/labels.ts'
import { digestJson } from '../lib/digest.ts'
import { canonicalJson } from '../lib/json.ts'
import { type KubeObject, keyOf, type ObjectRef } from '../lib/object.ts'
import { controllerOf, ownedBy } from '../lib/owner-references.ts'
import type { DeepReadonly } from '../lib/readonly.ts'

/**
 * Annotation with the digest of what was meant when the object was created. Not on kinds that keep their content: these
 * can be compared themselves, and each entry of an object's metadata is dear to the API server.
 */
export const contentDigestAnnotation = 'graphwright.dev/content-digest'

type Seen = DeepReadonly<KubeObject>

/**
 * The object as it is written on behalf of `owner`: labelled, and owned if it can be. It cannot be when it lives in
 * another namespace, and it is left alone when it brings owner references of its own, an empty list included.
 */
export function asChild(owner: Seen, child: KubeObject): KubeObject {
  const labels = { ...child.metadata.labels, [labelNames.managedBy]: managedByValue }
  const { ownerReferences = ownersFor(owner, child), ...metadata } = child.metadata
  return {
    ...child,
    metadata: { ...metadata, labels, ...(ownerReferences.length > 0 && { ownerReferences }) },
  }
}

function ownersFor(owner: Seen, child: KubeObject) {
  const { namespace } = owner.metadata
  if (namespace !== undefined && namespace !== child.metadata.namespace) return []
  return [ownedBy(owner, child)]
}

/**
 * The object with the digest of its content written on it. A digest that it brings is kept: where two releases, or two
 * installations, make the same thing in different words, whoever makes it says what it is the same by.
 */
export function withContentDigest(object: KubeObject): KubeObject {
  if (object.metadata.annotations?.[contentDigestAnnotation] !== undefined) return object
  const annotations = { ...object.metadata.annotations, [contentDigestAnnotation]: contentDigest(object) }
  return { ...object, metadata: { ...object.metadata, annotations } }
}

/** Digest of what the object says: everything but its metadata and status, and its labels. */
function contentDigest(object: KubeObject): string {
  return digestJson({ content: contentOf(object), labels: object.metadata.labels ?? {} })
}

/** Everything of an object but its metadata and status. */
export function contentOf(object: Seen): Record<string, unknown> {
  const { metadata, ...rest } = object
  const { status, ...content } = rest as Record<string, unknown>
  return content
}

/** Why `found` is not the object that we meant to create; undefined when it is. */
export function strangeness(found: Seen, meant: KubeObject): string | undefined {
  const stranger = foreignController(found, meant)
  if (stranger !== undefined) return stranger
  return isSameContent(found, meant) ? undefined : 'has other content'
}

/** By the digest that is meant; where none is, by the content itself. */
function isSameContent(found: Seen, meant: KubeObject): boolean {
  const digest = meant.metadata.annotations?.[contentDigestAnnotation]
  if (digest !== undefined) return found.metadata.annotations?.[contentDigestAnnotation] === digest
  return canonicalJson(contentOf(found)) === canonicalJson(contentOf(meant))
}

/** Who controls `found` instead of the owner that we mean; undefined when that owner does. By UID. */
export function foreignController(found: Seen, meant: KubeObject): string | undefined {
  const expected = controllerOf(meant)
  const actual = controllerOf(found)
  if (expected?.uid === actual?.uid) return undefined
  if (actual === undefined) return `is not controlled by ${expected?.kind} ${expected?.name}`
  return `is controlled by ${actual.kind} ${actual.name}${isNamesake(found, meant) ? ' of another uid' : ''}`
}

/** True when a stranger's object goes by itself: it is being deleted, or is left from an owner of the same name. */
export function isPassing(found: Seen, meant: KubeObject): boolean {
  return found.metadata.deletionTimestamp !== undefined || isNamesake(found, meant)
}

function isNamesake(found: Seen, meant: KubeObject): boolean {
  const expected = controllerOf(meant)
  const actual = controllerOf(found)
  return actual !== undefined && actual.kind === expected?.kind && actual.name === expected.name
}

/** True when both name the same object, by kind, namespace and name. */
export function isSameObject(a: ObjectRef, b: ObjectRef): boolean {
  return a.kind === b.kind && a.apiVersion === b.apiVersion && keyOf(a) === keyOf(b)
}
