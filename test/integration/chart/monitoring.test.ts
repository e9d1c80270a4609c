import { describe, expect, it } from 'vitest'
import { shippedAlerts } from '../../kit/alerts.ts'
import { one, type Rendered, render } from './rendered.ts'

const serviceMonitor = 'metrics.serviceMonitor={"enabled":true,"labels":{"release":"prometheus"},"interval":"15s"}'
const runbook = 'https://wiki.example/alerts'
const rules = `metrics.prometheusRule={"enabled":true,"labels":{"release":"prometheus"},"runbookURL":"${runbook}"}`

/** What is read of objects beside what every test of the chart reads. */
interface Monitored extends Omit<Rendered, 'spec'> {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> }
  readonly spec?: Readonly<Record<string, unknown>>
}

interface Deployment {
  readonly template: {
    readonly metadata: { readonly labels: Readonly<Record<string, string>> }
    readonly spec: {
      readonly containers: readonly { readonly args: readonly string[]; readonly ports: readonly object[] }[]
    }
  }
}

function specOf<T>(objects: readonly Rendered[], kind: string, name: string): T {
  return (one(objects, kind, name) as unknown as Monitored).spec as T
}

/** Names of the objects of a kind that have all these labels. */
function selected(objects: readonly Rendered[], kind: string, labels: Readonly<Record<string, string>>): string[] {
  const wanted = Object.entries(labels)
  return (objects as unknown as Monitored[])
    .filter((object) => object.kind === kind)
    .filter(({ metadata }) => wanted.every(([label, value]) => metadata.labels?.[label] === value))
    .map(({ metadata }) => metadata.name)
}

describe('for Prometheus', { timeout: 120_000 }, () => {
  it('there is a Service on the metrics of both processes, and nothing that needs definitions of others', async () => {
    const objects = await render('elsewhere')
    const kinds = new Set(objects.map(({ kind }) => kind))
    expect([...kinds].filter((kind) => kind === 'ServiceMonitor' || kind === 'PrometheusRule')).toEqual([])
    const { selector, ports } = specOf<{ selector: Record<string, string>; ports: { targetPort: string }[] }>(
      objects,
      'Service',
      'graphwright-metrics',
    )
    expect(ports).toEqual([{ name: 'metrics', port: 8080, targetPort: 'metrics' }])
    for (const process of ['manager', 'gateway']) {
      const { template } = specOf<Deployment>(objects, 'Deployment', `graphwright-${process}`)
      expect(template.metadata.labels).toMatchObject(selector)
      const [container] = template.spec.containers
      expect(container?.args).toContain('--metrics-port=8080')
      expect(container?.ports).toContainEqual({ name: 'metrics', containerPort: 8080 })
    }
  })

  it('a ServiceMonitor selects that Service and port alone, and names the jobs as the alerts do', async () => {
    const objects = await render('elsewhere', serviceMonitor)
    expect(selected(objects, 'ServiceMonitor', { release: 'prometheus' })).toEqual(['graphwright'])
    const spec = specOf<{
      selector: { matchLabels: Record<string, string> }
      endpoints: { port: string; interval: string; relabelings: { replacement: string }[] }[]
    }>(objects, 'ServiceMonitor', 'graphwright')
    expect(selected(objects, 'Service', spec.selector.matchLabels)).toEqual(['graphwright-metrics'])
    expect(spec.endpoints).toMatchObject([{ port: 'metrics', interval: '15s' }])
    const [relabeling] = spec.endpoints[0]?.relabelings ?? []
    const label = 'app.kubernetes.io/component'
    expect(relabeling).toEqual({
      sourceLabels: [`__meta_kubernetes_pod_label_${label.replaceAll(/[./]/g, '_')}`],
      targetLabel: 'job',
      replacement: 'graphwright-$1',
    })
    const jobs = ['manager', 'gateway'].map((process) => {
      const { template } = specOf<Deployment>(objects, 'Deployment', `graphwright-${process}`)
      return relabeling?.replacement.replace('$1', template.metadata.labels[label] ?? '')
    })
    expect(jobs).toEqual(['graphwright-manager', 'graphwright-gateway'])
  })

  it('a PrometheusRule has every alert as it is in the file, with a link to its heading', async () => {
    const objects = await render('elsewhere', rules)
    expect(selected(objects, 'PrometheusRule', { release: 'prometheus' })).toEqual(['graphwright'])
    const { groups } = specOf<{ groups: { name: string; rules: object[] }[] }>(objects, 'PrometheusRule', 'graphwright')
    const expected = shippedAlerts().map((alert) => ({
      ...alert,
      annotations: { ...alert.annotations, runbook_url: `${runbook}#${alert.alert.toLowerCase()}` },
    }))
    expect(groups.flatMap((group) => group.rules)).toEqual(expected)
    const unlinked = await render('elsewhere', 'metrics.prometheusRule.enabled=true')
    expect(JSON.stringify(one(unlinked, 'PrometheusRule', 'graphwright'))).not.toContain('runbook_url')
  })
})
