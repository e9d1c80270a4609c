import { isAlreadyExists, isConflict, isNotFound, KubeError } from '../kube/error.ts'
import { type KubeObject, keyOf, namespaceOf, type ObjectRef, type ResourceType, refOf } from '../lib/object.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import type { Applied } from './applied.ts'
import type { StatusBase } from './controller.ts'
import { asChild, foreignController, isPassing, isSameObject, strangeness, withContentDigest } from './ownership.ts'
import { refusalOf } from './refusals.ts'
import {
  type Annotated,
  type Count,
  type EventInput,
  type Patched,
  type ReconcileResult,
  Terminal,
  Wait,
} from './result.ts'
import { type StatusHolder, type StatusRules, statusToWrite } from './status.ts'
import type { World } from './world.ts'
import type { Writer } from './writer.ts'

export interface ExecutorOptions {
  readonly world: World
  readonly writer: Writer
  readonly applied: Applied
  readonly record: (event: EventInput & { readonly regarding: ObjectRef }) => void
  readonly count: (count: Count) => void
  readonly fieldManager: string
  readonly status: StatusRules
  readonly finalizer?: string | undefined
  /** Told after each write when it is to be found in the caches. */
  readonly wrote: (seen: () => boolean) => void
}

type Seen = DeepReadonly<KubeObject> & StatusHolder

/** Nothing wakes us when a stranger's object goes: look again, soon where it goes by itself. */
const passingMillis = 1000
const conflictMillis = 30_000

/** Carries out what a reconciler wants for one object. */
export class Executor {
  readonly #options: ExecutorOptions
  readonly #owner: Seen
  /** Version of the object that its status is based on: the one that was seen, or what our own status write made of it. */
  #version: string | undefined

  constructor(owner: Seen, options: ExecutorOptions) {
    this.#owner = owner
    this.#options = options
    this.#version = owner.metadata.resourceVersion
  }

  /** Version of the object after the last write of its status; before it, the one that was seen. */
  get version(): string | undefined {
    return this.#version
  }

  /**
   * Create, apply, patch, annotate, delete, status, finalizer, events, in this order. Stops at the first write that fails
   * and throws its error; the next pass repairs what is missing.
   * @returns false when the object itself was gone
   */
  async execute(result: ReconcileResult<StatusBase>): Promise<boolean> {
    for (const object of result.create ?? []) await this.#create(object)
    for (const object of result.apply ?? []) await this.#apply(object)
    for (const wanted of result.patch ?? []) await this.#patch(wanted)
    for (const wanted of result.annotate ?? []) await this.#annotate(wanted)
    for (const ref of result.delete ?? []) await this.#delete(ref)
    const status = result.status && statusToWrite(this.#owner, result.status, this.#options.status)
    if (status !== undefined && !(await this.writeStatus(status))) return false
    if (result.finalized === true) await this.#finalize()
    for (const event of result.events ?? []) this.#options.record({ regarding: refOf(this.#owner), ...event })
    for (const count of result.counts ?? []) this.#options.count(count)
    return true
  }

  /** Compare-and-set on the version that was seen. Returns false when the object is gone. */
  async writeStatus(status: StatusBase): Promise<boolean> {
    const { apiVersion, kind } = this.#owner
    const { name } = this.#owner.metadata
    const metadata = {
      name,
      ...namespaceOf(this.#owner.metadata),
      ...(this.#version !== undefined && { resourceVersion: this.#version }),
    }
    const object = { apiVersion, kind, metadata, status }
    try {
      const answer = await this.#options.writer.applyStatus(object, this.#options.fieldManager)
      this.#version = answer.metadata.resourceVersion
      this.#remember(answer)
      return true
    } catch (error) {
      if (isNotFound(error)) return false
      throw error
    }
  }

  async #create(object: KubeObject): Promise<void> {
    const { world, writer, fieldManager } = this.#options
    const type = world.typeOf(object.apiVersion, object.kind)
    const child = asChild(this.#owner, object)
    const meant = type.keepsContent === true ? child : withContentDigest(child)
    const cached = world.cached(type, keyOf(meant.metadata))
    if (cached !== undefined && strangeness(cached, meant) === undefined) return
    try {
      this.#remember(await writer.create(meant, fieldManager))
    } catch (error) {
      if (!isAlreadyExists(error)) throw refusalOf(error, meant)
      await this.#recognise(type, meant)
    }
  }

  /** The name is taken: by ourselves before a crash, which is as good as creating it now, or by somebody else. */
  async #recognise(type: ResourceType<KubeObject>, meant: KubeObject): Promise<void> {
    const found = await this.#options.world.live(type, refOf(meant))
    if (found === undefined) throw goneMeanwhile(meant)
    const strange = strangeness(found, meant)
    if (strange !== undefined) throw nameConflict(found, meant, strange)
    this.#remember(found)
  }

  async #apply(object: KubeObject): Promise<void> {
    const self = isSameObject(refOf(object), refOf(this.#owner))
    const intent = self ? object : asChild(this.#owner, object)
    const { world, writer, applied, fieldManager } = this.#options
    const type = world.typeOf(intent.apiVersion, intent.kind)
    const cached = self ? this.#owner : world.cached(type, keyOf(intent.metadata))
    if (applied.isCurrent(intent, cached)) return
    const uid = self ? this.#owner.metadata.uid : await this.#uidOfTarget(type, intent, cached)
    const metadata = { ...intent.metadata, ...(uid !== undefined && { uid }) }
    const answer = await writer.apply({ ...intent, metadata }, fieldManager)
    applied.remember(intent, answer)
    this.#remember(answer)
    // What else is in the new version has not been seen: a status may only be based on what has.
    if (self && answer.metadata.resourceVersion !== this.#version) throw movedOn(this.#owner)
  }

  /**
   * UID of the object that an apply goes to, so that it cannot bring a deleted one back; undefined if it is to be made.
   * An object that is to be owned and is controlled by another is refused, not taken over. The caches may say yes; no,
   * and absence, are asked for live.
   */
  async #uidOfTarget(type: ResourceType<KubeObject>, intent: KubeObject, cached: Seen | undefined) {
    const owned = intent.metadata.ownerReferences !== undefined
    if (cached !== undefined && (!owned || foreignController(cached, intent) === undefined)) return cached.metadata.uid
    if (!owned) return undefined
    const found = await this.#options.world.live(type, refOf(intent))
    if (found === undefined) return undefined
    const stranger = foreignController(found, intent)
    if (stranger !== undefined) throw nameConflict(found, intent, stranger)
    return found.metadata.uid
  }

  /** An object that is gone needs no patch; one that has moved on is a conflict, and is looked at again. */
  async #patch(wanted: Patched): Promise<void> {
    const { writer, fieldManager } = this.#options
    try {
      this.#remember(await writer.patch(wanted, fieldManager))
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  /** By a merge patch: an apply would take back what this field manager has applied of the object before. */
  async #annotate(wanted: Annotated): Promise<void> {
    const { world, writer, fieldManager } = this.#options
    const type = world.typeOf(wanted.ref.apiVersion, wanted.ref.kind)
    const shown = world.cached(type, keyOf(wanted.ref))?.metadata.annotations
    if (Object.entries(wanted.annotations).every(([name, value]) => shown?.[name] === value)) return
    try {
      this.#remember(await writer.annotate(wanted, fieldManager))
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  async #delete(ref: ObjectRef): Promise<void> {
    const { world, writer, wrote } = this.#options
    const type = world.typeOf(ref.apiVersion, ref.kind)
    const cached = world.cached(type, keyOf(ref))
    if (world.isCached(type) && (cached === undefined || cached.metadata.deletionTimestamp !== undefined)) return
    const uid = ref.uid ?? cached?.metadata.uid
    if (cached !== undefined && cached.metadata.uid !== uid) return
    try {
      await writer.delete({ ...ref, ...(uid !== undefined && { uid }) })
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error
    }
    if (world.isCached(type)) wrote(() => isGoing(world.cached(type, keyOf(ref)), uid))
  }

  async #finalize(): Promise<void> {
    const { finalizer, writer, wrote, world } = this.#options
    if (finalizer === undefined || this.#owner.metadata.finalizers?.includes(finalizer) !== true) return
    const type = world.typeOf(this.#owner.apiVersion, this.#owner.kind)
    const { metadata } = this.#owner
    await writer.removeFinalizer(this.#owner as KubeObject, finalizer)
    wrote(() => world.cached(type, keyOf(metadata))?.metadata.finalizers?.includes(finalizer) !== true)
  }

  #remember(written: KubeObject): void {
    const { world, wrote } = this.#options
    const type = world.typeOf(written.apiVersion, written.kind)
    const { name, resourceVersion, labels } = written.metadata
    const trace = {
      apiVersion: written.apiVersion,
      kind: written.kind,
      metadata: {
        name,
        ...namespaceOf(written.metadata),
        ...(resourceVersion !== undefined && { resourceVersion }),
        ...(labels !== undefined && { labels }),
      },
    }
    wrote(() => world.hasSeen(type, trace))
  }
}

function isGoing(cached: Seen | undefined, uid: string | undefined): boolean {
  return cached === undefined || cached.metadata.uid !== uid || cached.metadata.deletionTimestamp !== undefined
}

function nameConflict(found: KubeObject, meant: KubeObject, strange: string): Terminal | Wait {
  const where = `${meant.kind} ${keyOf(meant.metadata)}`
  if (isPassing(found, meant)) {
    const message = `${where} exists already and ${strange}; it should be gone soon, this one is created then`
    return new Wait('NameConflict', message, passingMillis)
  }
  const message = `${where} exists already and ${strange}; it is left alone. Delete or rename it so that this one can be created`
  return new Terminal('NameConflict', message, conflictMillis)
}

/** Our own apply to the object makes a new version of it, with which the work goes on as soon as it is in the cache. */
function movedOn(object: Seen): KubeError {
  const message = `${object.kind} ${keyOf(object.metadata)} has been changed by this very pass`
  return new KubeError({ status: 409, reason: 'Conflict', message, ref: refOf(object) })
}

function goneMeanwhile(meant: KubeObject): KubeError {
  const message = `${meant.kind} ${keyOf(meant.metadata)} existed a moment ago and is gone now`
  return new KubeError({ status: 409, reason: 'Conflict', message, ref: refOf(meant) })
}
