import { automation } from '../../api/automation.ts'
import type { Admission } from '../../api/automation-firing.ts'
import { automationProgram } from '../../api/automation-program.ts'
import { environment } from '../../api/environment.ts'
import type { Program } from '../../api/program.ts'
import { type Session, session } from '../../api/session.ts'
import { serviceAccountType } from '../../kube/core-types.ts'
import type { Digest } from '../../lib/digest.ts'
import type { ReadonlyJson } from '../../lib/json.ts'
import type { KubeObject, ResourceType } from '../../lib/object.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'
import { type Advance, advance } from '../../program/advance.ts'
import { programOfAgent } from '../../program/agent-target.ts'
import type { AdvanceInput, ObservedSession, ParseResult } from '../../program/input.ts'
import { ContentStoreError } from '../../runtime/content-client.ts'
import type { ContentStore } from '../../runtime/content-store.ts'
import type { ReconcileContext } from '../../runtime/controller.ts'
import { Wait } from '../../runtime/result.ts'
import type { SchemaValidator } from '../../runtime/schema-validator.ts'
import { isKnownFormat, tooNew } from './admission.ts'
import { type Firing, isActive } from './checks.ts'

/** What the program of a firing needs beside the cluster. */
export interface ProgramTools {
  readonly contents: ContentStore
  readonly schemas: SchemaValidator
}

type Frozen = DeepReadonly<Admission>

/**
 * The next move of an admitted firing: gathers what it depends on, asks `advance`, fetches and evaluates what that asks
 * for, until the answer stands. Before the first effect the Automation is read live; a new Session needs the frozen
 * Environment and ServiceAccount to exist still. The texts of the answer are stored when this returns.
 */
export async function nextMove(
  firing: Firing,
  admission: Frozen,
  context: ReconcileContext,
  tools: ProgramTools,
): Promise<Advance> {
  const base = gather(firing, admission, context)
  let answer = await settleAnswer(base, firing, context, tools)
  if (answer.sessions.length > 0) {
    if (base.sessions.size === 0) await assertStarted(firing, context)
    const refusal = await refusalOf(firing, admission, context)
    if (refusal !== undefined) answer = await settleAnswer({ ...base, refusal }, firing, context, tools)
  }
  for (const text of answer.put.values()) await fromStore(tools.contents.put(text, context.signal))
  return answer
}

type Base = Omit<AdvanceInput, 'parsed' | 'contents' | 'gone'>

function gather(firing: Firing, admission: Frozen, { read, now }: ReconcileContext): Base {
  const uid = firing.metadata.uid ?? ''
  // Owner references can be written by anyone who may edit the metadata; what a Session was made for cannot.
  const own = read.byOwner(session, uid).filter(({ spec }) => spec.firing.uid === uid)
  const sessions = own.map((one) => [one.spec.step, observed(one)] as const)
  return {
    program: programOf(firing, admission, read),
    entry: admission.entry,
    event: firing.spec.event as ReadonlyJson | undefined,
    firingUid: uid,
    recorded: firing.status?.steps ?? {},
    sessions: new Map(sessions),
    now,
  }
}

function programOf({ metadata }: Firing, admission: Frozen, read: ReconcileContext['read']): DeepReadonly<Program> {
  if (admission.agent !== undefined) return programOfAgent(admission.agent, [{ id: admission.entry, kind: 'manual' }])
  const found = read.get(automationProgram, `${metadata.namespace}/${admission.program?.name}`)
  if (found === undefined || found.spec.digest !== admission.program?.digest) {
    throw new Wait('ProgramMissing', 'Its AutomationProgram was deleted; what runs is left alone. Delete the firing.')
  }
  if (!isKnownFormat(found)) throw new Wait('ProgramTooNew', tooNew(found))
  return found.spec.program
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

/** The Automation as the API server has it must list the firing, before anything of it takes effect. */
async function assertStarted(firing: Firing, { live, signal }: ReconcileContext): Promise<void> {
  const { name } = firing.spec.automation
  const found = await live.find(automation, { name, namespace: firing.metadata.namespace ?? '' }, { signal })
  if (found !== undefined && isActive(firing, found)) return
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
