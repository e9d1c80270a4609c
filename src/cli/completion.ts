import type { Command, Option } from 'commander'

/** Kinds of names that only the cluster knows. */
export type NameKind = 'Automation' | 'AutomationFiring' | 'AutomationGraph' | 'AutomationGraphPlan'

/** What may stand in place of the last word. */
export interface Candidates {
  /** Words of the tool itself. */
  readonly words: readonly string[]
  /** Names to be asked for. */
  readonly names: readonly NameKind[]
}

const nothing: Candidates = { words: [], names: [] }

/** What the argument of a command names. */
const argumentNames: Readonly<Record<string, readonly NameKind[]>> = {
  run: ['Automation'],
  runs: ['Automation'],
  pause: ['Automation'],
  resume: ['Automation'],
  next: ['Automation'],
  explain: ['Automation'],
  backfill: ['Automation'],
  trace: ['AutomationFiring'],
  logs: ['AutomationFiring'],
  cancel: ['AutomationFiring'],
  approve: ['AutomationGraph', 'AutomationGraphPlan'],
  undo: ['AutomationGraph'],
}

/** What may come next. Pure: what the cluster knows is told by kind. The last of the words is the one being written. */
export function candidatesFor(program: Command, words: readonly string[]): Candidates {
  const current = words.at(-1) ?? ''
  const { command, values, pending } = read(program, words.slice(0, -1))
  if (pending !== undefined) return matching({ words: pending.argChoices ?? [], names: [] }, current)
  if (current.startsWith('-')) return matching({ words: optionsOf(program, command), names: [] }, current)
  if (command === undefined) return matching({ words: visible(program).map((one) => one.name()), names: [] }, current)
  const argument = command.registeredArguments[values]
  if (argument === undefined) return nothing
  return matching({ words: argument.argChoices ?? [], names: argumentNames[command.name()] ?? [] }, current)
}

/** The words before: the command, how many arguments it has, and an option that waits for its value. */
interface Read {
  readonly command: Command | undefined
  readonly values: number
  readonly pending: Option | undefined
}

function read(program: Command, words: readonly string[]): Read {
  let command: Command | undefined
  let values = 0
  let pending: Option | undefined
  for (const word of words) {
    if (pending !== undefined) pending = undefined
    else if (word.startsWith('-')) pending = valuedOption(program, command, word)
    else if (command === undefined) command = program.commands.find((one) => one.name() === word)
    else values += 1
  }
  return { command, values, pending }
}

function valuedOption(program: Command, command: Command | undefined, word: string): Option | undefined {
  const known = [...(command?.options ?? []), ...program.options]
  return known.find((option) => (option.short === word || option.long === word) && option.required)
}

function optionsOf(program: Command, command: Command | undefined): string[] {
  const known = [...(command?.options ?? []), ...program.options]
  return [...known.flatMap(({ long }) => (long ? [long] : [])), '--help']
}

function visible(program: Command): Command[] {
  return program.commands.filter((one) => !one.name().startsWith('_'))
}

function matching({ words, names }: Candidates, current: string): Candidates {
  return { words: words.filter((word) => word.startsWith(current)), names }
}

/** The namespace, context and kubeconfig that were written already; what else is wrong does not matter yet. */
export function writtenOptions(program: Command, words: readonly string[]): Record<string, string> {
  const written: Record<string, string> = {}
  for (const [index, word] of words.slice(0, -1).entries()) {
    const option = program.options.find(({ short, long }) => short === word || long === word)
    const value = words[index + 1]
    if (option?.required === true && value !== undefined && index + 1 < words.length - 1) {
      written[option.attributeName()] = value
    }
  }
  return written
}
