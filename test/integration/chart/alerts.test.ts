import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { kinds } from '../../../src/api/kinds.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import { shippedAlerts } from '../../kit/alerts.ts'
import { freshNamespace, testClient } from '../../kit/control-plane.ts'
import { eventually } from '../../kit/eventually.ts'
import { parseExpression, type Selector } from '../../kit/promql.ts'
import { Installation } from '../crash/installation.ts'
import { Candidate } from '../election/candidate.ts'

/** Metrics that Prometheus makes itself, of every scrape. */
const made = ['up']
/** Labels that the scrape adds. */
const added = ['job', 'pod', 'instance']

let client: KubeClient
let operator: Installation
const metrics = new Map<string, string>()
const ends: (() => void)[] = []

/** A manager that leads and a gateway that has answered, as processes, and what their metrics say. */
beforeAll(async () => {
  client = testClient({ types: kinds })
  operator = await Installation.start({ client, kubeconfig: inject('kubeconfig') })
  const settings = operator.settings(await freshNamespace(client))
  const leaseNamespace = await freshNamespace(client)
  const manager = await Candidate.start({
    ...settings,
    leaseNamespace,
    onTestFinished: (end) => ends.push(end as never),
  })
  await eventually(() => manager.leads())
  await operator.api.self('no token')
  metrics.set('graphwright-manager', await manager.metrics())
  metrics.set('graphwright-gateway', await operator.gateway.metrics())
}, 120_000)

afterAll(async () => {
  for (const end of ends) end()
  await operator?.stop()
  await client?.transport.close()
})

/** Label names of each series of this metric that a job shows. */
function seriesOf(job: string, metric: string): string[][] {
  const lines = (metrics.get(job) ?? '').split('\n').filter((line) => new RegExp(`^${metric}[{ ]`).test(line))
  return lines.map((line) => [...(/\{(.*)\}/.exec(line)?.[1] ?? '').matchAll(/(\w+)="/g)].map(([, name = '']) => name))
}

function jobsOf({ labels }: Selector): string[] {
  return [...metrics.keys()].filter((job) => new RegExp(`^(?:${labels.get('job')})$`).test(job))
}

describe.each(shippedAlerts())('$alert', ({ expr }) => {
  const { selectors, groupedBy } = parseExpression(expr)

  it('goes by metrics that the running processes have', () => {
    for (const selector of selectors) {
      expect(jobsOf(selector)).not.toEqual([])
      if (made.includes(selector.metric)) continue
      for (const job of jobsOf(selector)) {
        const series = seriesOf(job, selector.metric)
        expect(series, `${selector.metric} of ${job}`).not.toEqual([])
        const wanted = [...selector.labels.keys(), ...groupedBy].filter((label) => !added.includes(label))
        for (const labels of series) expect(labels).toEqual(expect.arrayContaining(wanted))
      }
    }
  })
})

it('an expression on a metric that nobody has would be found', () => {
  expect(seriesOf('graphwright-manager', 'graphwright_no_such_metric')).toEqual([])
  expect(seriesOf('graphwright-manager', 'graphwright_automations')).toEqual([
    ['state'],
    ['state'],
    ['state'],
    ['state'],
  ])
})

it('what the alerts go by says that all is well where it is', () => {
  const [manager, gateway] = [metrics.get('graphwright-manager') ?? '', metrics.get('graphwright-gateway') ?? '']
  for (const text of [manager, gateway]) expect(text).toMatch(/^graphwright_ready 1$/m)
  const [, silence] = /^graphwright_watch_silence_seconds\{kind="Automation"\} (\S+)$/m.exec(manager) ?? []
  expect(Number(silence)).toBeLessThan(120)
  const ends = ['serving', 'ca'].map((certificate) => {
    const line = new RegExp(
      `^graphwright_gateway_certificate_expiry_timestamp_seconds\\{certificate="${certificate}"\\} (\\S+)$`,
      'm',
    )
    return (Number(line.exec(gateway)?.[1]) - Date.now() / 1000) / 86_400
  })
  expect(ends.map(Math.round)).toEqual([90, 3650])
  const [free, size] = ['free', 'size'].map((what) =>
    Number(new RegExp(`^graphwright_gateway_contents_${what}_bytes (\\S+)$`, 'm').exec(gateway)?.[1]),
  )
  expect(free).toBeGreaterThan(0)
  expect(free).toBeLessThanOrEqual(size ?? 0)
})
