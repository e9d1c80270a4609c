import { type AutomationFiring, automationFiring } from '../api/automation-firing.ts'
import { fieldManagers, runnerName } from '../api/labels.ts'
import { type Run, run as runKind } from '../api/run.ts'
import type { RecordedReport, ResultReport, RunSelf } from '../api/run-api.ts'
import { type Session, session as sessionKind } from '../api/session.ts'
import type { KubeClient } from '../kube/client.ts'
import { isConflict } from '../kube/error.ts'
import type { Digest } from '../lib/digest.ts'
import { namespaceOf } from '../lib/object.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Caller } from './callers.ts'
import type { Contents } from './contents.ts'
import { ApiError } from './errors.ts'
import { contentTexts, inputContents, selfOf } from './input.ts'
import type { PodDirectory, PodStanding } from './pod-directory.ts'
import { isSettled, type Outcome, outcomeOf, recordedOf, resultOf, sameResult } from './result.ts'

/** What a pod may do with the Run that it acts for. */
export interface RunService {
  /** The frozen input. */
  self(caller: Caller, signal?: AbortSignal): Promise<RunSelf>
  /** Records the result, once. The same report again is answered with what is on record. */
  report(caller: Caller, report: ResultReport, signal?: AbortSignal): Promise<RecordedReport>
  /** A content that the input or the result of the run names. */
  readContent(caller: Caller, digest: Digest, signal?: AbortSignal): Promise<Uint8Array>
  /** Keeps a content on behalf of the run. */
  writeContent(caller: Caller, digest: Digest, bytes: Uint8Array, signal?: AbortSignal): Promise<void>
}

export interface RunsOptions {
  readonly client: KubeClient
  readonly pods: PodDirectory
  readonly contents: Contents
  readonly clock: Pick<Clock, 'now'>
  /** How long a pod that is not recorded yet is kept waiting before it is told to come again, milliseconds. */
  readonly recordWaitMillis?: number
}

const recordTries = 10

/** Runs as the API server has them at this moment: what decides is read live, only the way to it comes from a cache. */
export class Runs implements RunService {
  readonly #client: KubeClient
  readonly #pods: PodDirectory
  readonly #contents: Contents
  readonly #clock: Pick<Clock, 'now'>
  readonly #recordWaitMillis: number

  constructor(options: RunsOptions) {
    this.#client = options.client
    this.#pods = options.pods
    this.#contents = options.contents
    this.#clock = options.clock
    this.#recordWaitMillis = options.recordWaitMillis ?? 1000
  }

  async self(caller: Caller, signal?: AbortSignal): Promise<RunSelf> {
    const run = await this.#activeRun(caller, signal)
    const [session, firing] = await Promise.all([this.#session(run, signal), this.#firing(run, signal)])
    const texts = await contentTexts(inputContents(session), this.#contents)
    return selfOf(run, session, firing, texts)
  }

  async report(caller: Caller, report: ResultReport, signal?: AbortSignal): Promise<RecordedReport> {
    const outcome = outcomeOf(report)
    for (let tries = 0; tries < recordTries; tries++) {
      const run = await this.#run(caller, signal)
      const recorded = run.status?.result
      // What a pod reported that was lost all the same, and is fenced by now, does not stand in the way of its successor.
      if (recorded !== undefined && recorded.incarnation === run.status?.incarnation?.number) {
        if (sameResult(recorded, outcome)) return recordedOf(recorded)
        const message = 'another result of this run is on record, and a result is written once'
        throw new ApiError('validation.conflict', 'result_recorded', message)
      }
      if (isSettled(run)) throw settled()
      if (outcome.stored !== undefined) await this.#contents.put(outcome.output.digest, outcome.stored)
      try {
        return await this.#record(run, outcome, signal)
      } catch (error) {
        if (!isConflict(error)) throw error
      }
    }
    const message = 'the status of the run changes too often to be written now; try again'
    throw new ApiError('gateway.unavailable', 'run_contended', message, { retryAfterSeconds: 1 })
  }

  async readContent(caller: Caller, digest: Digest, signal?: AbortSignal): Promise<Uint8Array> {
    const run = await this.#run(caller, signal)
    const session = await this.#session(run, signal)
    const named = [...inputContents(session).values(), ...(run.status?.result ? [run.status.result.output] : [])]
    // Whether somebody else's content exists is nobody's business: not named and not there are one answer.
    if (!named.some((content) => content.digest === digest)) {
      throw new ApiError('content.missing', 'content_not_named', `this run names no content ${digest}`)
    }
    return this.#contents.get(digest)
  }

  async writeContent(caller: Caller, digest: Digest, bytes: Uint8Array, signal?: AbortSignal): Promise<void> {
    await this.#activeRun(caller, signal)
    await this.#contents.put(digest, bytes)
  }

  /** Compare-and-set on the resourceVersion just read; the gateway owns `result` and `usage`, and keeps the latter. */
  async #record(run: Run, outcome: Outcome, signal: AbortSignal | undefined): Promise<RecordedReport> {
    const result = resultOf(outcome, run, this.#clock.now())
    const { name, uid, resourceVersion } = run.metadata
    const usage = run.status?.usage
    const applied = {
      apiVersion: run.apiVersion,
      kind: run.kind,
      metadata: {
        name,
        ...namespaceOf(run.metadata),
        ...(uid !== undefined && { uid }),
        ...(resourceVersion !== undefined && { resourceVersion }),
      },
      status: { result, ...(usage !== undefined && { usage }) },
    }
    await this.#client.applyStatus(applied, { fieldManager: fieldManagers.gateway, signal })
    return recordedOf(result)
  }

  async #activeRun(caller: Caller, signal: AbortSignal | undefined): Promise<Run> {
    const run = await this.#run(caller, signal)
    if (isSettled(run)) throw settled()
    return run
  }

  /** The Run whose recorded incarnation is the caller's pod, read live. */
  async #run(caller: Caller, signal: AbortSignal | undefined): Promise<Run> {
    if (caller.serviceAccount !== runnerName) {
      const message = `only pods with the ServiceAccount ${runnerName} act for runs`
      throw new ApiError('auth.forbidden', 'not_a_runner', message)
    }
    const standing = await this.#pods.findSoon(caller.namespace, caller.podUID, this.#recordWaitMillis, signal)
    const key = runKeyOf(standing)
    const name = key.slice(caller.namespace.length + 1)
    const run = await this.#client.find(runKind, { name, namespace: caller.namespace }, { signal })
    if (run === undefined) throw gone()
    if (run.status?.incarnation?.podUID !== caller.podUID) throw fenced()
    return run
  }

  async #session(run: Run, signal: AbortSignal | undefined): Promise<Session> {
    const { name, uid } = run.spec.session
    const found = await this.#client.find(sessionKind, { name, ...namespaceOf(run.metadata) }, { signal })
    if (found === undefined || found.metadata.uid !== uid) throw inputLost('Session', name)
    return found
  }

  async #firing(run: Run, signal: AbortSignal | undefined): Promise<AutomationFiring> {
    const { name, uid } = run.spec.firing
    const found = await this.#client.find(automationFiring, { name, ...namespaceOf(run.metadata) }, { signal })
    if (found === undefined || found.metadata.uid !== uid) throw inputLost('AutomationFiring', name)
    return found
  }
}

function runKeyOf(standing: PodStanding | undefined): string {
  if (standing === 'replaced') throw fenced()
  if (standing === 'gone') throw gone()
  if (standing !== undefined) return standing.run
  const message = 'this pod is not recorded as the pod of a run, or not yet; try again'
  throw new ApiError('run.not_recorded', 'pod_not_recorded', message, { retryAfterSeconds: 1 })
}

function fenced(): ApiError {
  const message = 'another pod acts for this run now; what this one does no longer counts'
  return new ApiError('run.fenced', 'pod_replaced', message)
}

function gone(): ApiError {
  return new ApiError('run.gone', 'run_deleted', 'the run that this pod worked for was deleted')
}

function settled(): ApiError {
  return new ApiError('run.settled', 'run_settled', 'the run has settled; nothing is taken from its pod any more')
}

function inputLost(kind: string, name: string): ApiError {
  return new ApiError('run.input_lost', 'input_lost', `${kind} ${name}, which holds the input of the run, was deleted`)
}
