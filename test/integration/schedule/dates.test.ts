import { expect, it } from 'vitest'
import { automation } from '../../../src/api/automation.ts'
import { Metrics } from '../../../src/runtime/metrics.ts'
import { eventually } from '../../kit/eventually.ts'
import { startOperator } from '../../kit/operator.ts'
import { Ticking } from './ticking.ts'

/** Sum of a counter of the controller of Automations. */
async function count(metrics: Metrics, name: string): Promise<number> {
  const lines = (await metrics.registry.metrics()).split('\n')
  const found = lines.filter((line) => line.startsWith(`${name}{`) && /(name|controller)="automation"/.test(line))
  return found.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

it('[A-178] [A-225] [A-226] what was to come of an Automation that is deleted is dropped without a retry', async () => {
  const ticking = await Ticking.create()
  const { client, namespace } = ticking
  const metrics = new Metrics()
  await startOperator(client, namespace, { metrics })
  await ticking.ready()
  const in2s = new Date(Date.now() + 2000).toISOString()
  const triggers = [{ id: 'tick', kind: 'schedule_once' as const, at: in2s }]
  for (const name of ['deleted', 'kept']) await ticking.add(name, '', { triggers })
  await eventually(async () => (await ticking.get('deleted')).status?.next === in2s)
  const before = [await count(metrics, 'workqueue_retries_total'), await count(metrics, 'workqueue_adds_total')]
  const { apiVersion, kind } = automation
  await client.delete({ apiVersion, kind, name: 'deleted', namespace })
  await eventually(async () => (await ticking.firings('kept'))[0]?.status?.settledAt !== undefined)
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(in2s))
  expect(await ticking.firings('deleted')).toEqual([])
  expect(await count(metrics, 'workqueue_retries_total')).toBe(before[0])
  expect(await count(metrics, 'controller_runtime_reconcile_errors_total')).toBe(0)
  expect(await count(metrics, 'workqueue_adds_total')).toBeGreaterThan(before[1] ?? 0)
})
