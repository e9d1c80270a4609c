import { type Summary, summarize } from './statistics.ts'

/** One line of the table. */
export interface Figure {
  readonly title: string
  /** Empty for what is counted. */
  readonly unit: 'ms' | 'MiB' | 'KiB' | ''
  readonly ours: readonly number[]
  /** What the same run measured beside it. */
  readonly peer?: { readonly title: string; readonly samples: readonly number[] }
  /** None where a number is only told. */
  readonly target?: Target
}

export interface Target {
  readonly text: string
  readonly isMet: (ours: Summary, peer: Summary | undefined) => boolean
}

/** The median stays below a limit, in the unit of the figure. */
export function medianBelow(limit: number, unit = 'ms'): Target {
  return { text: `p50 < ${limit} ${unit}`, isMet: ({ p50 }) => p50 < limit }
}

/** Median and slowest hundredth stay below their limits, milliseconds. */
export function percentilesBelow(p50: number, p99: number): Target {
  return {
    text: `p50 < ${p50} ms, p99 < ${p99} ms`,
    isMet: (ours) => ours.p50 < p50 && ours.p99 < p99,
  }
}

/** The median is at most so many milliseconds above that of the peer. */
export function medianWithin(millis: number): Target {
  return {
    text: `p50 at most ${millis} ms above peer`,
    isMet: (ours, peer) => peer !== undefined && ours.p50 - peer.p50 <= millis,
  }
}

/** Undefined where the figure has no target. */
export function isMet({ ours, peer, target }: Figure): boolean | undefined {
  return target?.isMet(summarize(ours), peer && summarize(peer.samples))
}

const headers = ['figure', 'target', 'p50', 'p99', 'n', 'peer', 'p50', 'p99', 'ratio', 'met']

/** All figures as a table in Markdown, aligned to be read in a terminal. */
export function renderTable(figures: readonly Figure[]): string {
  const rows = [headers, ...figures.map(cells)]
  const widths = headers.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]) => `| ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`
  return [line(headers), rule, ...rows.slice(1).map(line)].join('\n')
}

function cells(figure: Figure): string[] {
  const ours = summarize(figure.ours)
  const peer = figure.peer && summarize(figure.peer.samples)
  const met = isMet(figure)
  return [
    figure.title,
    figure.target?.text ?? '',
    amount(ours.p50, figure.unit),
    ours.n > 1 ? amount(ours.p99, figure.unit) : '',
    String(ours.n),
    figure.peer?.title ?? '',
    peer === undefined ? '' : amount(peer.p50, figure.unit),
    peer === undefined || peer.n === 1 ? '' : amount(peer.p99, figure.unit),
    peer === undefined ? '' : (ours.p50 / peer.p50).toFixed(2),
    met === undefined ? '' : met ? 'met' : 'NOT MET',
  ]
}

function amount(value: number, unit: Figure['unit']): string {
  const short = value < 10 && !Number.isInteger(value) ? value.toFixed(1) : String(Math.round(value))
  return `${short} ${unit}`.trimEnd()
}
