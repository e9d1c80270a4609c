import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { shippedAlerts } from '../../kit/alerts.ts'
import { parseExpression } from '../../kit/promql.ts'

const alerts = shippedAlerts()
const page = readFileSync('docs/alerts.md', 'utf8')

/** What a heading of the page says, without the headings below it. */
function sectionOf(alert: string): string {
  const [, section] = page.split(new RegExp(`^### ${alert}$`, 'm'))
  return section?.split(/^##/m)[0] ?? ''
}

describe('the parser of expressions', () => {
  it.each(['sum(rate(x[5m])', 'x{job=}', 'x >', 'sum by x (y)'])('refuses %s', (broken) => {
    expect(() => parseExpression(broken)).toThrow('does not parse')
  })

  it('finds what an expression selects and groups by', () => {
    const { selectors, groupedBy } = parseExpression('sum by (a) (rate(x_total{code=~"5.."}[5m])) / on(b) y > 0')
    expect(selectors).toEqual([
      { metric: 'x_total', labels: new Map([['code', '5..']]) },
      { metric: 'y', labels: new Map() },
    ])
    expect(groupedBy).toEqual(['a', 'b'])
  })
})

describe.each(alerts)('$alert', ({ alert, expr, for: duration, labels, annotations }) => {
  it('has an expression that parses, and selects by the job', () => {
    const { selectors } = parseExpression(expr)
    expect(selectors.length).toBeGreaterThan(0)
    for (const selector of selectors) {
      expect(selector.labels.get('job')).toMatch(/^graphwright-(manager|gateway|\(manager\|gateway\))$/)
    }
  })

  it('says how bad it is, what it is, and lasts for a time that Prometheus knows', () => {
    expect(alert).toMatch(/^Graphwright[A-Z]/)
    expect(labels).toEqual({ severity: expect.stringMatching(/^(critical|warning)$/) })
    expect(annotations).toEqual({ summary: expect.stringMatching(/\.$/), description: expect.stringMatching(/\.$/) })
    if (duration !== undefined) expect(duration).toMatch(/^\d+[mh]$/)
  })

  it('uses in its texts only labels that the expression leaves', () => {
    const used = [...JSON.stringify(annotations).matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label)
    const { selectors, groupedBy } = parseExpression(expr)
    // What is aggregated keeps the labels of its `by`; what is not has those of the series, which the live test knows.
    if (!/^(sum|max|min|histogram_quantile)/.test(expr)) return
    expect(used.filter((label) => !groupedBy.includes(label ?? ''))).toEqual([])
    expect(selectors).not.toEqual([])
  })

  it('has a heading that says what it means, what to look at and what to do', () => {
    expect(sectionOf(alert).match(/^\*\*(It means|Look at|Do)\*\*/gm)).toEqual([
      '**It means**',
      '**Look at**',
      '**Do**',
    ])
  })
})

it('the page describes no alert that does not exist', () => {
  const headings = [...page.matchAll(/^### (\w+)$/gm)].map(([, name]) => name)
  expect(headings.toSorted()).toEqual(alerts.map(({ alert }) => alert).toSorted())
})

it('the page lists every metric of ours, and no other', () => {
  const table = [...page.matchAll(/^\| (`graphwright_.*?`) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name),
  )
  const declared = globSync('src/**/*.ts').flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(/'(graphwright_\w+)'/g)].map(([, name]) => name),
  )
  expect(table.toSorted()).toEqual([...new Set(declared)].toSorted())
})
