import { RE2JS } from 're2js'

/**
 * Characters that a pattern may have with its repetitions written out, which is what RE2 does with them: a kilobyte of
 * `(a{1,1000})` takes seconds and hundreds of megabytes to prepare.
 */
export const patternLimit = 2000

/**
 * A pattern of a user on RE2, whose time is linear in the text (`^(a+)+$` takes V8 ten seconds on 28 characters).
 * Undefined for what RE2 does not know, such as look-around and back-references, and beyond {@link patternLimit}.
 */
export function linearPattern(pattern: string): RE2JS | undefined {
  if (patternSize(pattern) > patternLimit) return undefined
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern))
  } catch {
    return undefined
  }
}

/** Groups, repetitions, classes and escapes; whatever else stands for itself. */
const tokens = /\\[pP]\{[^}]*\}|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|./gsu

/** A class of Unicode has hundreds of ranges. */
const unicodeClassSize = 20

interface Group {
  size: number
  /** Size of what a repetition would repeat. */
  last: number
}

/** How large a pattern is with its repetitions written out, in characters; an estimate that never is far too low. */
export function patternSize(pattern: string): number {
  if (pattern.length > patternLimit) return pattern.length
  let group: Group = { size: 0, last: 0 }
  const outer: Group[] = []
  for (const [token, least, most] of pattern.matchAll(tokens)) {
    const parent = token === ')' ? outer.pop() : undefined
    if (token === '(') {
      outer.push(group)
      group = { size: 1, last: 0 }
    } else if (parent !== undefined) group = append(parent, group.size)
    else if (least !== undefined) repeat(group, Number(most || least))
    else append(group, 1 + unicodeClassSize * (token.match(/\\p/gi)?.length ?? 0))
  }
  return outer.reduce((sum, { size }) => sum + size, group.size)
}

function append(group: Group, size: number): Group {
  group.size += size
  group.last = size
  return group
}

function repeat(group: Group, times: number): void {
  const added = group.last * (Math.max(1, times) - 1)
  group.size += added
  group.last += added
}
