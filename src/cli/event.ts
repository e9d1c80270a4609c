import { inlineEventLimitBytes } from '../api/fields.ts'
import type { Json } from '../lib/json.ts'
import { checkStrictValue, parseStrictJson, StrictJsonError } from '../lib/strict-json.ts'
import { CliError, cannotAsk, type Io } from './io.ts'

/** The event of `--event`: inline JSON, `@file`, or `@-` for standard input. */
export async function readEvent(argument: string | undefined, io: Io): Promise<Json | undefined> {
  if (argument === undefined) return undefined
  const text = argument.startsWith('@') ? await readEventFile(argument.slice(1), io) : argument
  const event = parse(text, argument.startsWith('@') ? argument.slice(1) : '--event')
  const bytes = Buffer.byteLength(JSON.stringify(event))
  if (bytes > inlineEventLimitBytes) {
    throw cannotAsk(
      'event_too_large',
      `the event has ${bytes} bytes, at most ${inlineEventLimitBytes} are taken: send what the agents read and leave out the rest`,
    )
  }
  return event
}

async function readEventFile(path: string, io: Io): Promise<string> {
  try {
    return await io.readFile(path)
  } catch (cause) {
    if (cause instanceof CliError) throw cause
    throw cannotAsk('unreadable', `cannot read the event file ${path}: check the path after @`, cause)
  }
}

function parse(text: string, origin: string): Json {
  try {
    const event = parseStrictJson(text)
    checkStrictValue(event)
    return event
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error
    const advice = origin === '--event' ? '; write JSON, or @ and the path of a file' : ''
    throw cannotAsk('event_invalid', `the event in ${origin} cannot be used: ${error.message}${advice}`, error)
  }
}
