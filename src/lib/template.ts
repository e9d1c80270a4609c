import type { ReadonlyJson } from './json.ts'
import { type Pointed, resolveTokens } from './pointer.ts'

/** A rendered message may be this long, in bytes of UTF-8. */
export const renderedLimitBytes = 64 * 1024

/** A place of a template that the event fills. */
export interface Reference {
  /** As authored, without the braces: `event.items[0].title`. */
  readonly text: string
  /** Members from the event down; empty: the whole event. */
  readonly path: readonly string[]
}

export interface RenderOptions {
  /** Append the event where the template references none of it. */
  readonly includeEvent?: boolean | undefined
}

export interface Rendered {
  readonly text: string
  /** References to what the event does not have, each once: they rendered empty. */
  readonly missing: readonly string[]
}

/** The rendered message is over {@link renderedLimitBytes}. */
export class RenderedTooLarge extends Error {
  override readonly name = 'RenderedTooLarge'
  readonly code = 'rendered_prompt_too_large'
  constructor() {
    super(`the rendered message is over ${renderedLimitBytes / 1024} KiB`)
  }
}

/** `{{event}}`, `{{event.path.to[0].field}}`; spaces inside the braces do not count. Anything else is plain text. */
const references = /\{\{ *(event((?:\.[^.[\]{}\s]+|\[\d+\])*)) *\}\}/g

/** Every reference of a template, in order, repeated ones too. */
export function referencesOf(template: string): Reference[] {
  return [...template.matchAll(references)].map(referenceOf)
}

/**
 * Fills a template with an event; the one renderer of previews and firings. Text stands as it is, other values as
 * compact JSON; what the event lacks renders empty and is reported. An appended event follows a blank line.
 * Throws {@link RenderedTooLarge}.
 */
export function render(template: string, event: Pointed, options: RenderOptions = {}): Rendered {
  const output = new BoundedText()
  const missing = new Set<string>()
  let end = 0
  for (const match of template.matchAll(references)) {
    const { text, path } = referenceOf(match)
    output.add(template.slice(end, match.index))
    end = match.index + match[0].length
    const value = event === undefined ? undefined : resolveTokens(event, path)
    if (value === undefined) missing.add(text)
    else output.add(textOf(value))
  }
  output.add(template.slice(end))
  if (end === 0 && options.includeEvent === true) appendEvent(template, event, output, missing)
  return { text: output.text, missing: [...missing] }
}

/** A value as it stands in a message: text as it is, anything else as compact JSON. */
export function textOf(value: ReadonlyJson): string {
  return typeof value === 'string' ? value.toWellFormed() : JSON.stringify(value)
}

function appendEvent(template: string, event: Pointed, output: BoundedText, missing: Set<string>): void {
  if (event === undefined) {
    missing.add('event')
    return
  }
  if (template !== '') output.add('\n\n')
  output.add(textOf(event))
}

function referenceOf(match: RegExpExecArray): Reference {
  const [, text = '', path = ''] = match
  return { text, path: path.match(/[^.[\]]+/g) ?? [] }
}

/** Text that stops growing at the limit, however often a template repeats a large event. */
class BoundedText {
  #text = ''
  #bytes = 0

  get text(): string {
    return this.#text
  }

  add(part: string): void {
    this.#bytes += Buffer.byteLength(part)
    if (this.#bytes > renderedLimitBytes) throw new RenderedTooLarge()
    this.#text += part
  }
}
