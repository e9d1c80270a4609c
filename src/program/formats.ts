import { type AutomationProgramSpec, programDigest } from '../api/automation-program.ts'
import { formatVersion, type Program } from '../api/program.ts'
import type { DeepReadonly } from '../lib/readonly.ts'

/** The formats of programs that an operator runs: the current one and, once there was one, the one before it. */
export interface ProgramFormats {
  /** What graphs are compiled to. */
  readonly current: number
  /**
   * What a program of the format before means in the current one. Pure. Ids of entries and steps stay, because recorded
   * outcomes and Sessions of firings under way are found by them, and so do Agents, which are pinned beside the program.
   */
  readonly fromPrevious?: (program: unknown) => DeepReadonly<Program>
}

/** Format 1 is the first. With the next comes `fromPrevious`, and the programs of test/golden hold it to its word. */
export const programFormats: ProgramFormats = { current: formatVersion }

/** A stored program in the current format, or why it is not to be run. */
export type ReadProgram =
  | { readonly kind: 'readable'; readonly program: DeepReadonly<Program> }
  | {
      readonly kind: 'unreadable'
      readonly reason: 'ProgramTooNew' | 'ProgramTooOld' | 'ProgramDamaged'
      /** What happened and what to do, for people. */
      readonly message: string
    }

type Stored = DeepReadonly<AutomationProgramSpec>

/** Programs never change, and are asked for in every pass of every firing. */
const read = new WeakMap<Stored, ReadProgram>()

/**
 * Reads a stored program. Nothing of one that cannot be read is looked at, so that a format may change everything but
 * `formatVersion`, `digest` and `pins`. The digest is checked because definitions of an older release take away the
 * fields that they do not know, without a word.
 */
export function readProgram(stored: Stored): ReadProgram {
  const known = read.get(stored) ?? readIn(programFormats, stored)
  read.set(stored, known)
  return known
}

/** The same by other formats: for tests of what the next format will need. */
export function readIn({ current, fromPrevious }: ProgramFormats, stored: Stored): ReadProgram {
  const isPrevious = stored.formatVersion === current - 1 && fromPrevious !== undefined
  if (stored.formatVersion > current) return tooNew(stored, current)
  if (stored.formatVersion < current && !isPrevious) return tooOld(stored, current)
  if (programDigest(stored) !== stored.digest) return damaged
  return { kind: 'readable', program: isPrevious ? fromPrevious(stored.program) : stored.program }
}

function tooNew({ formatVersion: format }: Stored, current: number): ReadProgram {
  const message = `The program has format ${format}, made by a newer operator; this one runs up to format ${current}. Update the operator, or approve the plan that this one makes of the graph.`
  return { kind: 'unreadable', reason: 'ProgramTooNew', message }
}

function tooOld({ formatVersion: format }: Stored, current: number): ReadProgram {
  const message = `The program has format ${format}, which this operator does not run any more; it makes format ${current}. Approve the plan that it makes of the graph.`
  return { kind: 'unreadable', reason: 'ProgramTooOld', message }
}

const damaged: ReadProgram = {
  kind: 'unreadable',
  reason: 'ProgramDamaged',
  message:
    'The program is not what its digest says: something was taken out of it, as older definitions of the kinds do. Delete it; its graph makes it again.',
}
