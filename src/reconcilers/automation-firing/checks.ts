import { type Automation, type AutomationTrigger, maxActiveFirings } from '../../api/automation.ts'
import type { AutomationFiring, FiringPhase } from '../../api/automation-firing.ts'
import { inlineEventLimitBytes } from '../../api/fields.ts'
import { firingName, manualKey } from '../../lib/names.ts'
import { controllerOf } from '../../lib/owner-references.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'
import { checkStrictValue, StrictJsonError } from '../../lib/strict-json.ts'

export type Firing = DeepReadonly<AutomationFiring>
export type Target = DeepReadonly<Automation>

/** A firing that ends before it was admitted. */
export interface Rejection {
  readonly kind: 'end'
  readonly phase: Extract<FiringPhase, 'Failed' | 'Skipped'>
  readonly reason: string
  readonly message: string
}

/** A firing that waits to be started. */
export interface Pending {
  readonly kind: 'pending'
  readonly reason: string
  readonly message: string
  /** Milliseconds until it should be looked at again; absent: a change of the Automation will tell. */
  readonly after?: number
}

/** The checks passed and the Automation lists it as active: it may be admitted. */
export interface Startable {
  readonly kind: 'start'
  readonly automation: Target
  /** Id of the trigger it enters by. */
  readonly entry: string
}

export type Check = Rejection | Pending | Startable

/** How long readiness that is merely unknown, as it is just after `kubectl apply`, is waited for, in milliseconds. */
const unknownPatienceMillis = 10_000

/**
 * Whether a firing may be admitted, by what it says and by the Automation it names (undefined: there is none). What
 * never can is a rejection; every reason has a message that says what to do.
 */
export function checkFiring(firing: Firing, automation: Target | undefined, now: Date): Check {
  if (automation === undefined) return notFound(firing)
  const problem = checkIdentity(firing, automation) ?? checkEvent(firing)
  if (problem !== undefined) return problem
  const entry = entryOf(firing, automation.spec.triggers)
  if (typeof entry !== 'string') return entry
  if (isActive(firing, automation)) return { kind: 'start', automation, entry }
  const decided = checkDecision(firing, automation)
  if (decided !== undefined) return decided
  return checkState(firing, automation, now)
}

/** True once the Automation reconciler has started the firing: by name and UID. */
export function isActive({ metadata }: Firing, automation: Target): boolean {
  return automation.status?.active?.some(({ name, uid }) => name === metadata.name && uid === metadata.uid) ?? false
}

function notFound({ spec }: Firing): Rejection {
  return failed('AutomationNotFound', `Automation ${spec.automation.name} does not exist; see kubectl get automations.`)
}

function checkIdentity(firing: Firing, { metadata }: Target): Rejection | undefined {
  const { name, uid } = firing.spec.automation
  if (metadata.deletionTimestamp !== undefined) {
    return failed('AutomationNotFound', `Automation ${name} is being deleted; nothing of it starts any more.`)
  }
  if (uid !== undefined && uid !== metadata.uid) {
    return failed('AutomationNotFound', `Automation ${name} was deleted and made again since; fire the new one.`)
  }
  const owner = controllerOf(firing)
  if (owner !== undefined && owner.uid !== metadata.uid) {
    const message = `It has ${owner.kind} ${owner.name} as its controlling owner; create it without owner references.`
    return failed('OwnerConflict', message)
  }
  return checkName(firing, { name, uid: metadata.uid ?? '' })
}

/** With an idempotency key the name is the lock, and must be the one that the key stands for. */
function checkName({ metadata, spec }: Firing, automation: { name: string; uid: string }): Rejection | undefined {
  if (spec.trigger !== 'manual' || spec.idempotencyKey === undefined) return undefined
  const expected = firingName(automation, 'manual', manualKey(spec.requestedBy, spec.idempotencyKey))
  if (metadata.name === expected) return undefined
  return failed('NameMismatch', `A firing with this idempotencyKey must be named ${expected}; create it by that name.`)
}

function checkEvent({ spec }: Firing): Rejection | undefined {
  if (spec.event === undefined) return undefined
  const problem = strictProblem(spec.event)
  if (problem !== undefined) {
    return failed('EventInvalid', `The event cannot be handed on as it was sent: ${problem}. Then fire it again.`)
  }
  const bytes = Buffer.byteLength(JSON.stringify(spec.event))
  if (bytes <= inlineEventLimitBytes) return undefined
  const limit = inlineEventLimitBytes / 1024
  return failed(
    'EventTooLarge',
    `The event is larger than ${limit} KiB as JSON; send a smaller one, such as a reference.`,
  )
}

/** The CLI reads strict JSON; what comes by another way was parsed by the API server already, and by this process. */
function strictProblem(event: unknown): string | undefined {
  try {
    checkStrictValue(event)
    return undefined
  } catch (error) {
    if (error instanceof StrictJsonError) return error.message
    throw error
  }
}

/** The trigger it enters by: the one it names, else the manual one, else the only one. */
function entryOf({ spec }: Firing, triggers: DeepReadonly<AutomationTrigger[]>): string | Rejection {
  const { name } = spec.automation
  const choices = triggers.map(({ id }) => id).join(', ')
  if (spec.entry !== undefined) {
    if (triggers.some(({ id }) => id === spec.entry)) return spec.entry
    return failed('EntryUnknown', `Automation ${name} has no trigger ${spec.entry}; choose one of: ${choices}.`)
  }
  const usual = triggers.find(({ kind }) => kinds[spec.trigger].includes(kind)) ?? onlyOne(triggers)
  if (usual !== undefined) return usual.id
  const message = `Automation ${name} has several triggers and no ${spec.trigger} one; set entry (graphwright run --trigger) to one of: ${choices}.`
  return failed('EntryAmbiguous', message)
}

const kinds: Readonly<Record<Firing['spec']['trigger'], readonly AutomationTrigger['kind'][]>> = {
  schedule: ['schedule', 'schedule_once'],
  event: ['webhook', 'subscription'],
  manual: ['manual'],
}

function onlyOne<T>(list: readonly T[]): T | undefined {
  return list.length === 1 ? list[0] : undefined
}

/** What the Automation has decided about a firing that it did not start. */
function checkDecision(firing: Firing, automation: Target): Rejection | undefined {
  const { name } = automation.metadata
  const listed = automation.status?.pending?.find(({ uid }) => uid === firing.metadata.uid)
  if (listed?.decision === 'ConcurrencyForbidden') {
    const message = `Another firing of Automation ${name} was under way, and its concurrencyPolicy is Forbid: nothing was run.`
    return { kind: 'end', phase: 'Skipped', reason: listed.decision, message }
  }
  if (listed?.decision === 'Superseded') {
    const message = `A newer firing of Automation ${name} took its place, by the concurrencyPolicy Replace: nothing was run.`
    return { kind: 'end', phase: 'Skipped', reason: listed.decision, message }
  }
  if (listed !== undefined || !isCovered(firing, automation)) return undefined
  const message = `Automation ${name} has fired for ${firing.spec.occurrence} before, or has decided not to: nothing was run.`
  return { kind: 'end', phase: 'Skipped', reason: 'AlreadyFired', message }
}

/** True for an occurrence that the Automation has decided: its name was a lock, and was let go when it was pruned. */
function isCovered({ spec }: Firing, { status }: Target): boolean {
  const { watermark, once } = status?.schedule ?? {}
  if (spec.trigger !== 'schedule' || spec.occurrence === undefined) return false
  if (once !== undefined && once.consumed?.at === spec.occurrence) return true
  return watermark !== undefined && new Date(spec.occurrence) <= new Date(watermark)
}

/** The firing was not started yet: whether it will be. */
function checkState(firing: Firing, { metadata, spec, status }: Target, now: Date): Rejection | Pending {
  const { name } = metadata
  if (firing.spec.trigger === 'schedule')
    return awaitSchedule(name, spec.paused === true || status?.pause !== undefined)
  if (spec.paused === true) {
    const message = `Automation ${name} is paused: nothing was run. Unset spec.paused to fire it.`
    return { kind: 'end', phase: 'Skipped', reason: 'Paused', message }
  }
  if (status?.state === undefined || status.observedGeneration !== metadata.generation) {
    return {
      kind: 'pending',
      reason: 'AwaitingReadiness',
      message: `Whether Automation ${name} is ready is not known yet.`,
    }
  }
  // One that paused itself has checks that fail as well as any.
  const readiness = status.readiness ?? []
  if (readiness.length > 0) return checkReadiness(firing, name, readiness, now)
  if (firing.spec.trigger === 'event' && status.pause !== undefined && !awaitsProbe(status, now)) {
    const message = `Automation ${name} has paused itself after ${status.pause.reason}: nothing was run.`
    return { kind: 'end', phase: 'Skipped', reason: 'Paused', message }
  }
  if ((status.active?.length ?? 0) >= maxActiveFirings) {
    const message = `Automation ${name} has ${maxActiveFirings} firings under way; this one starts when one of them ends.`
    return { kind: 'pending', reason: 'TooManyActive', message }
  }
  return { kind: 'pending', reason: 'AwaitingStart', message: `It waits to be started by Automation ${name}.` }
}

/** True while one firing is wanted that shows whether what paused the Automation has passed. */
function awaitsProbe({ pause, active = [] }: NonNullable<Target['status']>, now: Date): boolean {
  return pause?.nextProbe !== undefined && new Date(pause.nextProbe) <= now && active.length === 0
}

/**
 * An occurrence that was due while the Automation was active is not lost when it is paused before it could start, and a
 * date that was chosen once even less: it starts when the Automation is active again.
 */
function awaitSchedule(name: string, isPaused: boolean): Pending {
  const message = isPaused
    ? `Automation ${name} was paused before it could start; it starts when the Automation is resumed.`
    : `It waits to be started by Automation ${name}.`
  return { kind: 'pending', reason: isPaused ? 'AwaitingResume' : 'AwaitingStart', message }
}

type Readiness = NonNullable<NonNullable<Target['status']>['readiness']>

/** Unknown blocks as failure does, after a moment in which it may become known. */
function checkReadiness({ metadata }: Firing, name: string, readiness: Readiness, now: Date): Rejection | Pending {
  const why = readiness.map(({ message }) => message).join(' ')
  const left = Date.parse(metadata.creationTimestamp ?? '') + unknownPatienceMillis - now.getTime()
  if (left > 0 && readiness.every(({ state }) => state === 'Unknown')) {
    const message = `Automation ${name} is not ready yet: ${why}`
    return { kind: 'pending', reason: 'AwaitingReadiness', message, after: left }
  }
  return failed('NotReady', `Automation ${name} is not ready: ${why} Then fire it again.`)
}

/** The end of a firing that nothing can start. */
export function failed(reason: string, message: string): Rejection {
  return { kind: 'end', phase: 'Failed', reason, message }
}
