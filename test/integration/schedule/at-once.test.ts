import { expect, it, onTestFinished } from 'vitest'
import { automation } from '../../../src/api/automation.ts'
import { automationFiring } from '../../../src/api/automation-firing.ts'
import { kinds } from '../../../src/api/kinds.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import { Informer } from '../../../src/kube/informer.ts'
import { isSettledFiring } from '../../../src/reconcilers/automation-firing/phase.ts'
import { compressedClock } from '../../kit/compressed-clock.ts'
import { testClient } from '../../kit/control-plane.ts'
import { eventually } from '../../kit/eventually.ts'
import { startOperator } from '../../kit/operator.ts'
import { Ticking } from './ticking.ts'

const minute = 60_000
/** A minute passes in ten seconds. */
const speed = 6
const count = 60

/** The versions of what was written, which have one order for all objects. */
class Order {
  readonly created: number[] = []
  readonly watermarks: number[] = []
  settled = 0

  static async watch(client: KubeClient, namespace: string): Promise<Order> {
    const order = new Order()
    const firings = new Informer(client, automationFiring, { namespace })
    firings.onChange(({ object, old }) => {
      if (old === undefined) order.created.push(Number(object.metadata.resourceVersion))
      else if (isSettledFiring(object) && !isSettledFiring(old)) order.settled += 1
    })
    const automations = new Informer(client, automation, { namespace })
    automations.onChange(({ object, old }) => {
      if (old === undefined || object.status?.schedule?.watermark === old.status?.schedule?.watermark) return
      order.watermarks.push(Number(object.metadata.resourceVersion))
    })
    const end = new AbortController()
    onTestFinished(() => end.abort())
    for (const informer of [firings, automations]) {
      void informer.start(end.signal)
      await informer.synced
    }
    return order
  }
}

it('of what is due in the same instant, all firings are made before the first is recorded', async () => {
  const ticking = await Ticking.create()
  const clock = compressedClock(speed, Date.now())
  let requests = 0
  const client = testClient({ types: kinds, onAnswer: () => requests++ })
  onTestFinished(() => client.transport.close())
  await startOperator(client, ticking.namespace, { clock })
  await ticking.ready()
  // Later than all are known, and the only time.
  const due = new Date(Math.ceil(clock.now().getTime() / minute + 0.5) * minute)
  const names = Array.from({ length: count }, (_, index) => `at-once-${index}`)
  await Promise.all(names.map((name) => ticking.add(name, `${due.getUTCMinutes()} ${due.getUTCHours()} * * *`)))
  await eventually(async () => {
    const { items } = await ticking.client.list(automation, { namespace: ticking.namespace })
    return items.every(({ status }) => status?.next === due.toISOString())
  })
  const order = await Order.watch(ticking.client, ticking.namespace)
  expect(clock.now() < due).toBe(true)
  const before = requests

  await eventually(() => order.settled === count && order.watermarks.length === count, { timeout: 60_000 })
  expect(order.created).toHaveLength(count)
  expect(Math.max(...order.created)).toBeLessThan(Math.min(...order.watermarks))
  expect((requests - before) / count).toBeLessThan(12)
}, 120_000)
