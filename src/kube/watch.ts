import { isJsonObject } from '../lib/json.ts'
import type { KubeObject } from '../lib/object.ts'
import { isExpired, KubeError, type Status } from './error.ts'
import { errorFromStatus, isSilence } from './failures.ts'
import { readLines } from './lines.ts'
import { needsList, Pacing, type WatchEnd, type WatchRestartReason, type WatchTiming } from './pacing.ts'
import { pause } from './timing.ts'

/** Where objects come from: one kind, in one scope. */
export interface WatchSource<T> {
  list(signal: AbortSignal): Promise<{ items: T[]; resourceVersion: string }>
  watch(resourceVersion: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>
}

/** Where objects go. Called inside the reading loop, so that every method returns at once. */
export interface WatchSink<T> {
  /** All objects there are. */
  replace(items: T[], resourceVersion: string): void
  put(object: T): void
  remove(object: T): void
  /** The server has shown everything up to this version. */
  reached(resourceVersion: string): void
  /** Any sign of life. */
  alive(): void
  /** A list or watch ended; another follows after `waitMillis`. */
  ended(end: WatchEnd, waitMillis: number): void
}

/**
 * Keeps a sink equal to the server: list, then watch from the list's version, and again by what ended it (see
 * {@link needsList} and {@link Pacing}). Never gives up; returns when the signal aborts.
 */
export async function keepWatching<T extends KubeObject>(
  source: WatchSource<T>,
  sink: WatchSink<T>,
  options: { readonly signal: AbortSignal; readonly timing: WatchTiming; readonly random?: () => number },
): Promise<void> {
  const { signal } = options
  const pacing = new Pacing(options.timing, options.random)
  let version: string | undefined
  while (!signal.aborted) {
    const position: Position = { version }
    const end =
      version === undefined
        ? await listOnce(source, sink, position, signal)
        : await watchOnce(source, sink, position, signal)
    version = position.version
    if (end === undefined || signal.aborted) continue
    if (needsList(end.reason)) version = undefined
    const waitMillis = pacing.after(end)
    sink.ended(end, waitMillis)
    await pause(waitMillis, signal).catch(() => {})
  }
}

/** The newest version the sink has; moved by what is read. */
interface Position {
  version: string | undefined
}

async function listOnce<T>(
  source: WatchSource<T>,
  sink: WatchSink<T>,
  position: Position,
  signal: AbortSignal,
): Promise<WatchEnd | undefined> {
  let listed: Awaited<ReturnType<WatchSource<T>['list']>>
  try {
    listed = await source.list(signal)
  } catch (error) {
    return { ...classify(error, false), openMillis: 0, received: false }
  }
  if (signal.aborted) return undefined
  sink.replace(listed.items, listed.resourceVersion)
  position.version = listed.resourceVersion
  return undefined
}

async function watchOnce<T extends KubeObject>(
  source: WatchSource<T>,
  sink: WatchSink<T>,
  position: Position,
  signal: AbortSignal,
): Promise<WatchEnd> {
  const asked = performance.now()
  let stream: AsyncIterable<Uint8Array>
  try {
    stream = await source.watch(position.version ?? '0', signal)
  } catch (error) {
    return { ...classify(error, false), openMillis: 0, received: false }
  }
  sink.alive()
  const before = position.version
  const end = await readEvents(stream, sink, position, signal)
  return { ...end, openMillis: performance.now() - asked, received: position.version !== before }
}

async function readEvents<T extends KubeObject>(
  stream: AsyncIterable<Uint8Array>,
  sink: WatchSink<T>,
  position: Position,
  signal: AbortSignal,
): Promise<EndCause> {
  try {
    for await (const lines of readLines(stream)) {
      if (signal.aborted) break
      sink.alive()
      for (const line of lines) takeEvent(parseEvent<T>(line), sink, position)
    }
    return { reason: 'closed', message: 'the server ended the watch' }
  } catch (error) {
    return classify(error, true)
  }
}

type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; readonly object: T }
  | { readonly type: 'ERROR'; readonly object: Status }

function parseEvent<T>(line: string): WatchEvent<T> {
  const event: unknown = JSON.parse(line)
  if (!isJsonObject(event) || !isJsonObject(event.object)) throw new Error('a line of the watch is not an event')
  return event as unknown as WatchEvent<T>
}

function takeEvent<T extends KubeObject>(event: WatchEvent<T>, sink: WatchSink<T>, position: Position): void {
  if (event.type === 'ERROR') {
    throw errorFromStatus({ server: '', method: 'GET', path: 'watch' }, event.object)
  }
  if (event.type === 'DELETED') sink.remove(event.object)
  else if (event.type !== 'BOOKMARK') sink.put(event.object)
  const version = event.object.metadata.resourceVersion
  if (version === undefined || BigInt(version) <= BigInt(position.version ?? '0')) return
  position.version = version
  sink.reached(version)
}

type EndCause = Pick<WatchEnd, 'reason' | 'message' | 'retryAfterSeconds'>

/** @param established whether the watch had been accepted when it failed */
function classify(error: unknown, established: boolean): EndCause {
  const message = error instanceof Error ? error.message : String(error)
  if (!(error instanceof KubeError)) return { reason: 'error', message }
  return { reason: reasonFor(error, established), message, retryAfterSeconds: error.retryAfterSeconds }
}

function reasonFor(error: KubeError, established: boolean): WatchRestartReason {
  if (isExpired(error as Error)) return 'expired'
  if (error.status === 0) return !established ? 'refused' : isSilence(error) ? 'idle' : 'reset'
  if (error.status === 401) return 'unauthorized'
  if (error.status === 403) return 'forbidden'
  if (error.status === 429) return 'overloaded'
  if (error.status === 504 && /too large resource version/i.test(error.message)) return 'future'
  return 'error'
}
