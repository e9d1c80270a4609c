import type { Content } from '../api/fields.ts'
import type { ProgramBinding, ProgramStep } from '../api/program.ts'
import type { Digest } from '../lib/digest.ts'
import type { JsonObject, ReadonlyJson } from '../lib/json.ts'
import { resolvePointer } from '../lib/pointer.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import type { Pass } from './pass.ts'
import type { StepReason } from './reasons.ts'

/** Why a step fails. The message is for people and quotes no values. */
export interface Failure {
  readonly kind: 'failed'
  readonly reason: StepReason
  readonly message: string
}

/** A text must be fetched from the content store first. */
export interface Unloaded {
  readonly kind: 'unloaded'
  readonly digest: Digest
}

export type Read<T> = { readonly kind: 'read'; readonly value: T } | Unloaded | Failure

/**
 * What a node hands on: a trigger the event, an agent its output as text (a text until it is parsed, A-375), a parsing
 * step the parsed value.
 */
function nodeValue(pass: Pass, source: string): Read<ReadonlyJson> {
  if (pass.step(source) === undefined) {
    if (pass.input.event !== undefined && source === pass.input.entry) return read(pass.input.event)
    return missing(source === pass.input.entry ? `the firing has no event` : `trigger ${source} did not fire`)
  }
  const text = outputText(pass, source)
  if (text.kind !== 'read' || pass.step(source)?.kind !== 'parse_json') return text
  return read(parsedOnce(pass, pass.outcomes.get(source)?.output?.digest ?? '', text.value))
}

/** Several readers of one value share it. */
function parsedOnce(pass: Pass, digest: Digest, text: string): ReadonlyJson {
  const known = pass.values.get(digest)
  if (known !== undefined) return known
  const value = JSON.parse(text) as ReadonlyJson
  pass.values.set(digest, value)
  return value
}

/** The output of a step as text. */
export function outputText(pass: Pass, source: string): Read<string> {
  const output = pass.outcomes.get(source)?.output
  if (output === undefined) return missing(`step ${source} has no output`)
  return textOf(pass, output)
}

function textOf(pass: Pass, content: Readonly<Content>): Read<string> {
  const text = content.inline ?? pass.texts.get(content.digest) ?? pass.input.contents.get(content.digest)
  return text === undefined ? { kind: 'unloaded', digest: content.digest } : read(text)
}

/** The value a binding selects. A missing one fails the step; it never becomes a text such as `undefined`. */
export function boundValue(pass: Pass, field: string, binding: DeepReadonly<ProgramBinding>): Read<ReadonlyJson> {
  const source = nodeValue(pass, binding.source)
  if (source.kind !== 'read') return source
  const value = resolvePointer(source.value, binding.pointer)
  if (value !== undefined) return read(value)
  return missing(`input ${field} reads ${binding.pointer} of ${binding.source}, which is missing`)
}

/** All bound values of a step, by input name. */
export function boundValues(pass: Pass, step: DeepReadonly<ProgramStep>): Read<JsonObject> {
  const values: [string, ReadonlyJson][] = []
  for (const [field, binding] of Object.entries(step.bindings ?? {})) {
    const bound = boundValue(pass, field, binding)
    if (bound.kind !== 'read') return bound
    values.push([field, bound.value])
  }
  return read(Object.fromEntries(values) as JsonObject)
}

/** What a decision judges: its bound inputs as one object, else the value of its `output` edge. */
export function subjectOf(pass: Pass, step: DeepReadonly<ProgramStep>): Read<ReadonlyJson> {
  if (step.bindings !== undefined && Object.keys(step.bindings).length > 0) return boundValues(pass, step)
  if (step.output !== undefined) return nodeValue(pass, step.output)
  return missing('it has nothing to judge')
}

/** The text that a parsing step reads: the binding `content`, else its `output` edge. */
export function textToParse(pass: Pass, step: DeepReadonly<ProgramStep>): Read<string> {
  const binding = step.bindings?.content
  const content = binding === undefined ? nodeValue(pass, step.output ?? '') : boundValue(pass, 'content', binding)
  if (content.kind !== 'read') return content
  if (typeof content.value === 'string') return read(content.value)
  return { kind: 'failed', reason: 'field_not_text', message: 'what it should parse is not a text' }
}

function read<T>(value: T): Read<T> {
  return { kind: 'read', value }
}

function missing(message: string): Failure {
  return { kind: 'failed', reason: 'field_missing', message }
}
