import { parentPort } from 'node:worker_threads'
import { digestJson } from '../lib/digest.ts'
import { type CheckValue, prepareSchema, SchemaError } from '../lib/json-schema.ts'
import { parseStrictJson, StrictJsonError } from '../lib/strict-json.ts'
import type { SchemaMessage, SchemaQuestion, SchemaRefusal, SchemaVerdict } from './schema-protocol.ts'

/**
 * The worker thread in which users' JSON Schemas run: whatever they cost, it is this thread that is ended. An entry
 * point of its own, beside the program in a bundle.
 */

/** Schemas that were prepared already; the oldest go first. */
const prepared = new Map<string, CheckValue>()
const preparedLimit = 100

function answer({ text, schema }: SchemaQuestion): SchemaVerdict {
  try {
    const check = checkOf(schema)
    const value = parseStrictJson(text)
    const complaint = check(value)
    if (complaint !== undefined) return refusal('output_schema_mismatch', complaint)
    return { kind: 'valid', text: JSON.stringify(value) }
  } catch (error) {
    if (error instanceof SchemaError) return refusal(error.code, `the schema cannot be used: ${error.message}`)
    if (error instanceof StrictJsonError) return refusal('output_invalid_json', error.message)
    if (error instanceof RangeError)
      return refusal('schema_memory_exceeded', 'checking against the schema goes too deep')
    throw error
  }
}

function checkOf(schema: SchemaQuestion['schema']): CheckValue {
  const key = digestJson(schema)
  const known = prepared.get(key)
  if (known !== undefined) return known
  const check = prepareSchema(schema)
  prepared.set(key, check)
  for (const oldest of prepared.keys()) {
    if (prepared.size <= preparedLimit) break
    prepared.delete(oldest)
  }
  return check
}

function refusal(reason: SchemaRefusal['reason'], message: string): SchemaRefusal {
  return { kind: 'invalid', reason, message }
}

function send(message: SchemaMessage): void {
  parentPort?.postMessage(message)
}

parentPort?.on('message', (question: SchemaQuestion) => send({ id: question.id, verdict: answer(question) }))
send('ready')
