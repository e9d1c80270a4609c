import { readFileSync } from 'node:fs'
import { load } from 'js-yaml'

export interface Alert {
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

/** The alerts that the chart brings. */
export function shippedAlerts(): Alert[] {
  const text = readFileSync(new URL('../../charts/graphwright/files/alerts.yaml', import.meta.url), 'utf8')
  const { groups } = load(text) as { groups: { rules: Alert[] }[] }
  return groups.flatMap(({ rules }) => rules)
}
