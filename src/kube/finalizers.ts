import { type Identified, type ObjectRef, refOf } from '../lib/object.ts'
import type { JsonPatchOp, WriteOptions } from './call-options.ts'
import type { KubeClient } from './client.ts'
import { isInvalid, isNotFound, KubeError } from './error.ts'

/** What is needed of the object that was read. */
interface Finalized extends Identified {
  readonly metadata: Identified['metadata'] & {
    readonly deletionTimestamp?: string
    readonly finalizers?: readonly string[]
  }
}

/**
 * Operations that add a finalizer to the list that was read, and fail where the list is another by now. Empty where it
 * is there already.
 */
export function addFinalizerOps(present: readonly string[], finalizer: string): JsonPatchOp[] {
  if (present.includes(finalizer)) return []
  if (present.length === 0) {
    return [
      { op: 'test', path: '/metadata/finalizers', value: null },
      { op: 'add', path: '/metadata/finalizers', value: [finalizer] },
    ]
  }
  return [
    { op: 'test', path: '/metadata/finalizers', value: [...present] },
    { op: 'add', path: '/metadata/finalizers/-', value: finalizer },
  ]
}

/** Operations that remove a finalizer, and fail where another stands in its place by now. Empty where it is not there. */
export function removeFinalizerOps(present: readonly string[], finalizer: string): JsonPatchOp[] {
  const at = present.indexOf(finalizer)
  if (at < 0) return []
  const path = `/metadata/finalizers/${at}`
  return [
    { op: 'test', path, value: finalizer },
    { op: 'remove', path },
  ]
}

/**
 * Adds a finalizer, before the first effect that needs cleaning up. Other finalizers are left as they are.
 * @throws {KubeError} conflict where the object has changed since it was read or is being deleted: read it again
 */
export async function addFinalizer(
  client: KubeClient,
  object: Finalized,
  finalizer: string,
  options: WriteOptions = {},
): Promise<void> {
  const ops = addFinalizerOps(object.metadata.finalizers ?? [], finalizer)
  if (ops.length === 0) return
  if (object.metadata.deletionTimestamp !== undefined) throw changed(refOf(object), 'it is being deleted')
  await patch(client, refOf(object), ops, options)
}

/**
 * Removes a finalizer, after the cleaning up has succeeded. An object that is gone is fine.
 * @throws {KubeError} conflict where its finalizers have changed since it was read: read it again
 */
export async function removeFinalizer(
  client: KubeClient,
  object: Finalized,
  finalizer: string,
  options: WriteOptions = {},
): Promise<void> {
  const ops = removeFinalizerOps(object.metadata.finalizers ?? [], finalizer)
  if (ops.length === 0) return
  try {
    await patch(client, refOf(object), ops, options)
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

/** A failed test is answered 422, like a schema error; for us it is a lost race. */
async function patch(client: KubeClient, ref: ObjectRef, ops: JsonPatchOp[], options: WriteOptions): Promise<void> {
  try {
    await client.patchJson(ref, ops, options)
  } catch (error) {
    if (isInvalid(error)) throw changed(ref, 'it has changed since it was read', error)
    throw error
  }
}

function changed(ref: ObjectRef, why: string, cause?: unknown): KubeError {
  const message = `finalizers of ${ref.kind} ${ref.name}: ${why}`
  return new KubeError({ status: 409, reason: 'Conflict', message, ref, cause })
}
