/** One field of a cron expression: its range and its names. */
export interface CronFieldRule {
  readonly label: string
  readonly min: number
  readonly max: number
  /** Names in order from `min` on. */
  readonly names?: readonly string[]
}

export interface CronField {
  /** Every value at which the field matches, ascending. */
  readonly values: readonly number[]
  /** Begins with `*`, so that it does not restrict the day, as in cron(5). */
  readonly starred: boolean
}

export type CronFieldResult =
  | { readonly ok: true; readonly field: CronField }
  | { readonly ok: false; readonly error: string }

/** Reads `*`, numbers, names, ranges, steps and lists of them; nothing else. */
export function parseCronField(text: string, rule: CronFieldRule): CronFieldResult {
  const values = new Set<number>()
  for (const part of text.split(',')) {
    const range = parsePart(part, rule)
    if (typeof range === 'string') return { ok: false, error: range }
    for (let value = range.from; value <= range.to; value += range.step) values.add(value)
  }
  return { ok: true, field: { values: [...values].sort((a, b) => a - b), starred: text.startsWith('*') } }
}

interface Range {
  readonly from: number
  readonly to: number
  readonly step: number
}

/** A part of a list as a range, or what is wrong with it. */
function parsePart(part: string, rule: CronFieldRule): Range | string {
  const match = /^(\*|[A-Za-z0-9]+)(?:-([A-Za-z0-9]+))?(?:\/(\d{1,4}))?$/.exec(part)
  const wrong = `${rule.label} ${JSON.stringify(part)} is not understood: write *, a number, a range such as ${rule.min}-${rule.max}, a step such as */5, or a list of them`
  if (match === null) return wrong
  const [, first = '', last, stepText] = match
  if (first === '*' && last !== undefined) return wrong
  const step = Number(stepText ?? 1)
  if (step < 1 || step > rule.max) return `${rule.label} has the step ${stepText}: it must be from 1 to ${rule.max}`
  if (first === '*') return { from: rule.min, to: rule.max, step }
  const from = parseValue(first, rule)
  const to = last === undefined ? from : parseValue(last, rule)
  if (from === undefined || to === undefined)
    return `${rule.label} must be from ${rule.min} to ${rule.max}, not ${part}`
  if (to < from) return `${rule.label} has the range ${part}, which runs backwards: write it as two ranges`
  // A step after one number runs to the end of the range, as in `5/15`.
  return { from, to: last === undefined && stepText !== undefined ? rule.max : to, step }
}

function parseValue(text: string, rule: CronFieldRule): number | undefined {
  const named = rule.names?.indexOf(text.toUpperCase()) ?? -1
  if (named >= 0) return rule.min + named
  if (!/^\d{1,4}$/.test(text)) return undefined
  const value = Number(text)
  return value >= rule.min && value <= rule.max ? value : undefined
}
