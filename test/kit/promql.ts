import { parser } from '@prometheus-io/lezer-promql'

/** One vector that an expression of Prometheus selects. */
export interface Selector {
  readonly metric: string
  /** Labels by which it selects, with their values or patterns. */
  readonly labels: ReadonlyMap<string, string>
}

/**
 * What an expression selects and by which labels it groups, by the grammar that Prometheus' own editor uses.
 * Throws where the expression does not parse.
 */
export function parseExpression(expression: string): { selectors: Selector[]; groupedBy: string[] } {
  const selectors: { metric: string; labels: Map<string, string> }[] = []
  const groupedBy: string[] = []
  let label = ''
  parser.parse(expression).iterate({
    enter({ name, type, from, to, node }) {
      const text = expression.slice(from, to)
      if (type.isError) throw new Error(`it does not parse at "${expression.slice(Math.max(0, from - 20), to + 20)}"`)
      if (name === 'Identifier') selectors.push({ metric: text, labels: new Map() })
      if (name === 'LabelName' && node.parent?.name === 'GroupingLabels') groupedBy.push(text)
      else if (name === 'LabelName') label = text
      if (name === 'StringLiteral') selectors.at(-1)?.labels.set(label, text.slice(1, -1))
    },
  })
  return { selectors, groupedBy }
}
