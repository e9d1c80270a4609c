import {
  EVENT_DOCUMENT,
  EVENT_SCALAR,
  type Event,
  loadAll,
  parseEvents,
  SCALAR_STYLE_PLAIN,
  YAMLException,
} from 'js-yaml'
import { cannotAsk } from './io.ts'

/** One document of a file. */
export interface YamlDocument {
  readonly value: unknown
  /** Values that kubectl reads otherwise than they look. */
  readonly traps: readonly YamlTrap[]
}

export interface YamlTrap {
  readonly line: number
  readonly text: string
  /** What it is read as instead. */
  readonly as: string
}

/** The documents of a YAML or JSON file. */
export function readYaml(text: string, path: string): YamlDocument[] {
  try {
    const values = loadAll(text, { filename: path })
    const traps = trapsOf(text)
    return values.map((value, index) => ({ value, traps: traps[index] ?? [] }))
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    const [first = ''] = error.message.split('\n', 1)
    throw cannotAsk('unreadable', `${path} is no valid YAML or JSON: ${first}`, error)
  }
}

/** More of them in one document help nobody. */
const maxTraps = 100

/** Traps by document. */
function trapsOf(text: string): YamlTrap[][] {
  const found: YamlTrap[][] = []
  let line = 1
  let counted = 0
  for (const event of parseEvents(text, {})) {
    if (event.type === EVENT_DOCUMENT) found.push([])
    const trap = trapOf(event, text)
    const traps = found.at(-1)
    if (trap === undefined || traps === undefined || traps.length >= maxTraps) continue
    // Events come in the order of the text, so that no line is counted twice.
    line += text.slice(counted, trap.offset).split('\n').length - 1
    counted = trap.offset
    traps.push({ line, text: trap.text, as: trap.as })
  }
  return found
}

/**
 * kubectl reads YAML 1.1, in which more words than true and false are booleans and more digits than decimal ones are
 * numbers. Quotes say which is meant.
 */
function trapOf(event: Event, text: string): (Omit<YamlTrap, 'line'> & { readonly offset: number }) | undefined {
  if (event.type !== EVENT_SCALAR || event.style !== SCALAR_STYLE_PLAIN || event.tagStart >= 0) return undefined
  const written = text.slice(event.valueStart, event.valueEnd)
  const as = readAs(written)
  return as === undefined ? undefined : { offset: event.valueStart, text: written, as }
}

function readAs(written: string): string | undefined {
  if (/^(y|Y|yes|Yes|YES|on|On|ON)$/.test(written)) return 'true'
  if (/^(n|N|no|No|NO|off|Off|OFF)$/.test(written)) return 'false'
  if (/^[-+]?0o?[0-7_]+$/.test(written) && !/^[-+]?0$/.test(written)) return 'an octal number'
  if (/^[-+]?0b[01_]+$/.test(written)) return 'a binary number'
  if (/^[-+]?[0-9][0-9_]*_[0-9_]*(\.[0-9_]*)?$/.test(written)) return 'a number'
  return written === '<<' ? 'a merge of another mapping' : undefined
}
