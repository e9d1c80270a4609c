import { readFileSync } from 'node:fs'

const example = '{"items": [{"id": "INC-1", "title": "Checkout is down", "severity": "critical"}]}'

/** Refuses a file that the sample's agents cannot work with, before anything is started. Throws one message for people. */
export function checkEvent(file: string): void {
  const problem = problemOf(read(file))
  if (problem !== undefined) throw new Error(`${file}: ${problem}. An event looks like this: ${example}`)
}

function read(file: string): unknown {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    throw new Error(
      `${file}: there is no such file, or it cannot be read. EVENT names a file with an event: ${example}`,
    )
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(
      `${file}: this is not JSON (${error instanceof Error ? error.message : error}). An event looks like this: ${example}`,
    )
  }
}

/** What is missing in an event, or undefined. */
export function problemOf(event: unknown): string | undefined {
  if (typeof event !== 'object' || event === null || Array.isArray(event)) return 'an event is a JSON object'
  if (!('items' in event)) return 'the list "items" is missing'
  if (!Array.isArray(event.items)) return '"items" must be a list'
  for (const [index, item] of event.items.entries()) {
    for (const field of ['id', 'title', 'severity']) {
      if (typeof item?.[field] !== 'string') return `items[${index}].${field} is missing, or is not a text`
    }
  }
  return undefined
}
