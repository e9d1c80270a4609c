import { afterAll, beforeAll, expect, it } from 'vitest'
import type { KubeClient } from '../../../src/kube/client.ts'
import type { Write } from '../../../src/runtime/writer.ts'
import { preparedClient, Workbench } from './workbench.ts'

let client: KubeClient
beforeAll(async () => {
  client = await preparedClient()
})
afterAll(() => client.transport.close())

/** A write after which nothing of this manager happens any more, as after SIGKILL. */
function dieAt(number: number, moment: 'before' | 'after', onDeath: () => void) {
  let dead = false
  return async (at: 'before' | 'after', write: Write): Promise<void> => {
    if (dead || (at === moment && write.number === number)) {
      if (!dead) onDeath()
      dead = true
      await new Promise(() => {})
    }
  }
}

it('[A-310] one run is one Job with one pod, wherever its managers die', async () => {
  const bench = await Workbench.create(client)
  const kubelet = await bench.kubelet()
  let deaths = 0
  // Each manager dies at its n-th write, before or after it reached the server; the next takes over at once.
  const succeed = async (): Promise<void> => {
    deaths++
    const moment = deaths % 2 === 0 ? 'before' : 'after'
    await bench.manager(deaths > 8 ? {} : { faults: dieAt(Math.ceil(deaths / 4), moment, () => void succeed()) })
  }
  await succeed()
  const run = await bench.settled(await bench.run(), 40_000)
  expect(deaths).toBeGreaterThan(5)
  expect(run.status).toMatchObject({ phase: 'Succeeded', incarnation: { number: 0 }, output: { inline: 'done' } })
  expect(await bench.jobs()).toHaveLength(1)
  expect(kubelet.placed).toHaveLength(1)
})

it('two managers at once make one Job', async () => {
  const bench = await Workbench.create(client)
  const kubelet = await bench.kubelet()
  await Promise.all([bench.manager(), bench.manager()])
  const run = await bench.settled(await bench.run())
  expect(run.status?.phase).toBe('Succeeded')
  expect(await bench.jobs()).toHaveLength(1)
  expect(kubelet.placed).toHaveLength(1)
})
