import { type Automation, automation } from '../../api/automation.ts'
import type { Admission } from '../../api/automation-firing.ts'
import { automationProgram } from '../../api/automation-program.ts'
import { environment } from '../../api/environment.ts'
import { labels } from '../../api/labels.ts'
import type { Program } from '../../api/program.ts'
import { type Session, session } from '../../api/session.ts'
import { serviceAccountType } from '../../kube/core-types.ts'
import type { Digest } from '../../lib/digest.ts'
import type { ReadonlyJson } from '../../lib/json.ts'
import type { KubeObject, ResourceType } from '../../lib/object.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'
import { type Advance, advance } from '../../program/advance.ts'
import { programOfAgent } from '../../program/agent-target.ts'
import { readProgram } from '../../program/formats.ts'
import type { AdvanceInput, ObservedSession, ParseResult } from '../../program/input.ts'
import { ContentStoreError } from '../../runtime/content-client.ts'
import type { ContentStore } from '../../runtime/content-store.ts'
import type { ReconcileContext } from '../../runtime/controller.ts'
import { Wait } from '../../runtime/result.ts'
import type { SchemaValidator } from '../../runtime/schema-validator.ts'
import { type Firing, isActive } from './checks.ts'

/** What the program of a firing needs beside the cluster. */
export interface ProgramTools {
  readonly contents: ContentStore
  readonly schemas: SchemaValidator
}

type Frozen = DeepReadonly<Admission>

/**
 * The next move of an admitted firing: gathers what it depends on, asks `advance`, fetches and evaluates what that asks
 * for, until the answer stands. Before each Session the Automation is read live: its name is a lock only while the
 * Session exists, and it goes an hour after the firing has settled. A new Session needs the frozen Environment and
 * ServiceAccount to exist still. The texts of the answer are stored when this returns.
 * @param cancelled why the firing is to end; undefined while it is not
 */
export async function nextMove(
  firing: Firing,
  admission: Frozen,
  cancelled: string | undefined,
  context: ReconcileContext,
  tools: ProgramTools,
): Promise<Advance> {
  const base =
    cancelled === undefined
      ? gather(firing, admission, context)
      : await gatherAll(firing, admission, cancelled, context)
  let answer = await settleAnswer(base, firing, context, tools)
  if (answer.sessions.length > 0) {
    const limits = await limitsOf(firing, admission, context)
    if (limits !== undefined) answer = await settleAnswer({ ...base, ...limits }, firing, context, tools)
  }
  for (const text of answer.put.values()) await fromStore(tools.contents.put(text, context.signal))
  return answer
}

type Base = Omit<AdvanceInput, 'parsed' | 'contents' | 'gone'>

function gather(firing: Firing, admission: Frozen, { read, now }: ReconcileContext): Base {
  const uid = firing.metadata.uid ?? ''
  // Owner references can be written by anyone who may edit the metadata; what a Session was made for cannot.
  const sessions = read.byOwner(session, uid).filter(({ spec }) => spec.firing.uid === uid)
  const found = findProgram(firing, admission, read)
  if (found.kind === 'unknown') throw new Wait(found.reason, found.message)
  return baseOf(firing, admission, found.program, sessions, now)
}

function baseOf(
  { metadata, spec, status }: Firing,
  { entry }: Frozen,
  program: DeepReadonly<Program>,
  sessions: readonly DeepReadonly<Session>[],
  now: Date,
): Base {
  return {
    program,
    entry,
    event: spec.event as ReadonlyJson | undefined,
    firingUid: metadata.uid ?? '',
    recorded: status?.steps ?? {},
    sessions: new Map(sessions.map((one) => [one.spec.step, observed(one)])),
    now,
  }
}

/**
 * What the end of a firing depends on: its Sessions as the API server has them, because one that was made a moment ago
 * must not be left behind. Without its program they and the recorded steps are all there is to end; that there may have
 * been more is told by a step that never starts.
 */
async function gatherAll(
  firing: Firing,
  admission: Frozen,
  cancelled: string,
  { read, live, now, signal }: ReconcileContext,
): Promise<Base> {
  const { name, uid, namespace = '' } = firing.metadata
  const { items } = await live.list(session, { namespace, labelSelector: `${labels.firing}=${name}`, signal })
  const own = items.filter((one) => one.spec.firing.uid === uid)
  const steps = new Set([...Object.keys(firing.status?.steps ?? {}), ...own.map(({ spec }) => spec.step)])
  const known = findProgram(firing, admission, read)
  const rest: Program = { entries: [], steps: [...steps, '?'].map((id) => ({ id, kind: 'agent', after: [] })) }
  const program = known.kind === 'known' ? known.program : rest
  return { ...baseOf(firing, admission, program, own, now), cancelled }
}

type FoundProgram =
  | { readonly kind: 'known'; readonly program: DeepReadonly<Program> }
  | { readonly kind: 'unknown'; readonly reason: string; readonly message: string }

function findProgram({ metadata }: Firing, admission: Frozen, read: ReconcileContext['read']): FoundProgram {
  if (admission.agent !== undefined) {
    return { kind: 'known', program: programOfAgent(admission.agent, [{ id: admission.entry, kind: 'manual' }]) }
  }
  const found = read.get(automationProgram, `${metadata.namespace}/${admission.program?.name}`)
  if (found === undefined || found.spec.digest !== admission.program?.digest) {
    const message = 'Its AutomationProgram was deleted; what runs is left alone. Cancel or delete the firing.'
    return { kind: 'unknown', reason: 'ProgramMissing', message }
  }
  const known = readProgram(found.spec)
  if (known.kind === 'readable') return { kind: 'known', program: known.program }
  return { kind: 'unknown', reason: known.reason, message: `${known.message} What runs is left alone.` }
}

function observed({ metadata, status }: DeepReadonly<Session>): ObservedSession {
  return {
    name: metadata.name,
    phase: status?.phase,
    reason: status?.reason,
    message: status?.message,
    output: status?.output,
  }
}

/** Asks until nothing is left to fetch or to evaluate; each round brings what the one before asked for. */
async function settleAnswer(
  base: Base,
  firing: Firing,
  context: ReconcileContext,
  { contents: store, schemas }: ProgramTools,
): Promise<Advance> {
  const parsed = new Map<string, ParseResult>()
  const contents = new Map<Digest, string>()
  const sessions = new Map(base.sessions)
  const gone = new Set<string>()
  for (;;) {
    const answer = advance({ ...base, sessions, parsed, contents, gone })
    const { load, parse, unseen } = answer
    if (load.length + parse.length + unseen.length === 0) return answer
    for (const digest of load) contents.set(digest, await fromStore(store.get(digest, context.signal)))
    for (const { step, text, schema } of parse) parsed.set(step, await schemas.validate(text, schema))
    for (const step of unseen) {
      const found = await findSession(firing, step, context)
      if (found === undefined) gone.add(step)
      else sessions.set(step, observed(found))
    }
  }
}

/** The Session that is recorded for a step, where the cache does not have it. */
async function findSession({ metadata, status }: Firing, step: string, { live, signal }: ReconcileContext) {
  const name = status?.steps?.[step]?.session ?? ''
  const found = await live.find(session, { name, namespace: metadata.namespace ?? '' }, { signal })
  return found?.spec.firing.uid === metadata.uid ? found : undefined
}

/** A gateway that restarts is nobody's fault: what was fetched and evaluated so far is done again. */
async function fromStore<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (!(error instanceof ContentStoreError)) throw error
    throw new Wait(
      'ContentUnavailable',
      `An output that is kept by the gateway is not to be had: ${error.message}`,
      2000,
    )
  }
}

/** What forbids new Sessions at this moment, for good or for now; undefined where nothing does. */
async function limitsOf(
  firing: Firing,
  admission: Frozen,
  context: ReconcileContext,
): Promise<Pick<AdvanceInput, 'held' | 'refusal'> | undefined> {
  const { spec } = await startedBy(firing, context)
  if (spec.paused === true) return { held: heldByPause(firing.spec.automation.name) }
  const refusal = await refusalOf(firing, admission, context)
  return refusal && { refusal }
}

const heldReason = 'AutomationPaused'

/** what runs goes on, and the steps after it wait for the same firing to continue. */
function heldByPause(name: string): NonNullable<AdvanceInput['held']> {
  return { reason: heldReason, message: `Automation ${name} is paused: the next step starts when it is resumed.` }
}

/** True for a firing of which nothing is under way, because its Automation was paused when it was last looked at. */
export function isHeld({ status }: Firing): boolean {
  return status?.phase === 'Waiting' && status.reason === heldReason
}

/** The Automation as the API server has it. It must list the firing, before anything of it takes effect. */
async function startedBy(firing: Firing, { live, signal }: ReconcileContext): Promise<DeepReadonly<Automation>> {
  const { name } = firing.spec.automation
  const found = await live.find(automation, { name, namespace: firing.metadata.namespace ?? '' }, { signal })
  if (found !== undefined && isActive(firing, found)) return found
  throw new Wait('NotStarted', `Automation ${name} does not list it as started any more; nothing of it runs.`)
}

/** asked again before every Session, and of the API server where the cache says no. */
async function refusalOf(
  { metadata }: Firing,
  { environment: frozen, principal }: Frozen,
  { read, live, signal }: ReconcileContext,
): Promise<AdvanceInput['refusal']> {
  const namespace = metadata.namespace ?? ''
  const isThere = async (type: ResourceType<KubeObject>, name: string, uid: string): Promise<boolean> => {
    const cached = read.get(type, `${namespace}/${name}`)
    if (cached?.metadata.uid === uid && cached.metadata.deletionTimestamp === undefined) return true
    const found = await live.find(type, { name, namespace }, { signal })
    return found?.metadata.uid === uid && found.metadata.deletionTimestamp === undefined
  }
  if (!(await isThere(environment, frozen.name, frozen.uid))) {
    const message = `Environment ${frozen.name} was deleted after the firing was admitted`
    return { reason: 'environment_missing', message }
  }
  if (!(await isThere(serviceAccountType, principal.serviceAccountName, principal.uid))) {
    const message = `ServiceAccount ${principal.serviceAccountName} was deleted after the firing was admitted`
    return { reason: 'service_account_missing', message }
  }
  return undefined
}
