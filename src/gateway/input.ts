import type { AutomationFiring } from '../api/automation-firing.ts'
import type { Content } from '../api/fields.ts'
import type { Run } from '../api/run.ts'
import type { RunSelf } from '../api/run-api.ts'
import type { Session } from '../api/session.ts'
import type { Contents } from './contents.ts'
import { ApiError } from './errors.ts'

/** Name of the prompt among the contents of an input; no binding can have it. */
const promptField = ' prompt'

/** The contents that make up the input of a session, by name. */
export function inputContents(session: Session): ReadonlyMap<string, Content> {
  const { prompt, bindings } = session.spec.input
  return new Map([[promptField, prompt], ...Object.entries(bindings ?? {})])
}

/**
 * The texts of contents: inline ones as they are, the others from the store.
 * @throws {ApiError} `run.input_lost` where the store has lost one
 */
export async function contentTexts(
  contents: ReadonlyMap<string, Content>,
  store: Contents,
): Promise<ReadonlyMap<string, string>> {
  const texts = await Promise.all(
    [...contents].map(async ([name, content]) => [name, await textOf(content, store)] as const),
  )
  return new Map(texts)
}

async function textOf(content: Content, store: Contents): Promise<string> {
  if (content.inline !== undefined) return content.inline
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await store.get(content.digest))
  } catch (cause) {
    if (!(cause instanceof ApiError) || cause.type !== 'content.missing') throw cause
    const message = `part of the input (${content.digest}) is no longer in the content store`
    throw new ApiError('run.input_lost', 'content_missing', message, { cause })
  }
}

/** What a pod is told about its run. */
export function selfOf(
  run: Run,
  session: Session,
  firing: AutomationFiring,
  texts: ReadonlyMap<string, string>,
): RunSelf {
  const bindings = Object.fromEntries([...texts].filter(([name]) => name !== promptField))
  return {
    run: { name: run.metadata.name, namespace: run.metadata.namespace ?? '' },
    session: session.metadata.name,
    step: run.spec.step,
    attempt: session.spec.attempt,
    prompt: texts.get(promptField) ?? '',
    event: firing.spec.event ?? null,
    bindings,
  }
}
