import { labels } from '../api/labels.ts'
import { type Run, run } from '../api/run.ts'
import type { Session, SessionStatus } from '../api/session.ts'
import { childName } from '../lib/names.ts'
import { type Condition, namespaceOf } from '../lib/object.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { conditionOf, setCondition } from '../runtime/conditions.ts'
import type { ReconcileContext } from '../runtime/controller.ts'
import type { Annotated, ReconcileResult } from '../runtime/result.ts'
import { askToEnd, cancelRequest } from './cancelling.ts'

type Seen = DeepReadonly<Session>
type Phase = NonNullable<SessionStatus['phase']>

const settled: readonly Phase[] = ['Succeeded', 'Failed', 'Cancelled']

/** True while the Session may still do something. */
export function isOpenSession({ status }: Pick<Seen, 'status'>): boolean {
  return status?.phase === undefined || !(status.phase === 'Indeterminate' || settled.includes(status.phase))
}

/**
 * Makes the one Run of a Session, and shows how it fares. An unknown outcome may still become known. A request to end is
 * handed on to the Run, and what that comes to is shown.
 */
export async function reconcileSession(
  object: Seen,
  { read, live, now, signal }: ReconcileContext,
): Promise<ReconcileResult<SessionStatus>> {
  const { metadata, status } = object
  const own = read.byOwner(run, metadata.uid ?? '').filter(({ spec }) => spec.session.uid === metadata.uid)
  const seen = own.find(({ spec }) => spec.sequence === 0)
  if (status?.phase !== undefined && settled.includes(status.phase)) return { annotate: cancel(object, seen) }
  if (seen !== undefined) return { annotate: cancel(object, seen), status: mirror(object, seen, now) }
  const wanted = firstRun(object)
  const why = cancelRequest(object)
  if (status?.runs === undefined && why === undefined) {
    const made: News = { phase: 'Pending', runs: 1 }
    return { create: [wanted], status: statusOf(object, made, now) }
  }
  const { name, namespace = '' } = wanted.metadata
  const found = await live.find(run, { name, namespace }, { signal })
  if (found !== undefined) return { annotate: cancel(object, found), status: mirror(object, found, now) }
  return status?.runs === undefined ? unstarted(object, why ?? '', now) : deleted(object, now)
}

/** Hands a request to end on to a Run that has not settled. */
function cancel(object: Seen, one: DeepReadonly<Run> | undefined): Annotated[] {
  const why = cancelRequest(object)
  return why === undefined || one === undefined || one.status?.settledAt !== undefined ? [] : [askToEnd(one, why)]
}

/** Ended before it had a Run. */
function unstarted(object: Seen, why: string, now: Date): ReconcileResult<SessionStatus> {
  const message = `It was cancelled by request (${why}) before anything ran for it`
  return { status: statusOf(object, { phase: 'Cancelled', reason: 'Cancelled', message, runs: 0 }, now) }
}

/** The first Run of a Session; its name is the lock. */
function firstRun({ metadata, spec }: Seen): Run {
  const { name, uid = '', labels: own = {} } = metadata
  const sequence = 0
  const { firing, step, item, attempt } = spec
  return {
    apiVersion: run.apiVersion,
    kind: run.kind,
    metadata: {
      name: childName(firing.uid, step, item, attempt, sequence),
      ...namespaceOf(metadata),
      labels: { ...inherited(own), [labels.session]: name },
    },
    spec: { session: { name, uid }, firing: { ...firing }, step, sequence },
  }
}

/** An allow-list: labels of tools on the parent would make them take the child for theirs. */
function inherited(own: Readonly<Record<string, string>>): Record<string, string> {
  const kept: readonly string[] = [labels.graph, labels.automation, labels.firing, labels.step, labels.agent]
  return Object.fromEntries(Object.entries(own).filter(([label]) => kept.includes(label)))
}

interface News extends Pick<SessionStatus, 'reason' | 'message' | 'tokens' | 'costMicrousd' | 'output'> {
  readonly phase: Phase
  readonly runs: number
}

function mirror(object: Seen, { status }: DeepReadonly<Run>, now: Date): SessionStatus {
  const { phase = 'Pending', reason, message, usage, output } = status ?? {}
  const news: News = {
    phase,
    runs: 1,
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message }),
    ...(usage?.tokens !== undefined && { tokens: usage.tokens }),
    ...(usage?.costMicrousd !== undefined && { costMicrousd: usage.costMicrousd }),
    ...(output !== undefined && { output: { ...output } }),
  }
  return statusOf(object, news, now)
}

function deleted(object: Seen, now: Date): ReconcileResult<SessionStatus> {
  const message = 'Its Run was deleted before it had settled'
  const status = statusOf(object, { phase: 'Failed', reason: 'RunDeleted', message, runs: 1 }, now)
  return { status, events: [{ type: 'Warning', reason: 'RunDeleted', note: message, action: 'Observe' }] }
}

function statusOf({ metadata, status }: Seen, news: News, now: Date): SessionStatus {
  const before = structuredClone(status?.conditions) as Condition[] | undefined
  return { ...news, conditions: setCondition(before, verdict(news), metadata.generation ?? 0, now) }
}

function verdict({ phase, reason, message }: News): Pick<Condition, 'type' | 'status' | 'reason' | 'message'> {
  const status = phase === 'Succeeded' ? 'True' : settled.includes(phase) ? 'False' : 'Unknown'
  return {
    type: 'Succeeded',
    status,
    reason: reason ?? phase,
    message: message ?? `Its Run is ${phase.toLowerCase()}.`,
  }
}

/** What columns show of a Session whose pass failed: the runtime says it in the condition alone. */
export function summarizeSession(status: SessionStatus): SessionStatus {
  const succeeded = conditionOf(status.conditions, 'Succeeded')
  const isOver = status.phase !== undefined && settled.includes(status.phase)
  if (succeeded === undefined || isOver || succeeded.reason === status.reason) return status
  const { reason, message } = succeeded
  if (succeeded.status === 'False') return { ...status, phase: 'Failed', reason, message }
  return conditionOf(status.conditions, 'Reconciling') ? { ...status, phase: 'Waiting', reason, message } : status
}
