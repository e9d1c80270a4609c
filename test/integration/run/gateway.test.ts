import { expect, it, onTestFinished } from 'vitest'
import type { Pod } from '../../../src/kube/core-types.ts'
import { aFiring } from '../../kit/builders.ts'
import { gatewayRunner, type RunApi } from '../../kit/pod-runner.ts'
import { temporaryFolder } from '../../kit/temporary-folder.ts'
import { errorOf, GatewayUnderTest } from '../gateway/support.ts'
import { Workbench } from './workbench.ts'

it('a pod gets its input from the gateway and its result on record, and a lost one gets and gives nothing more', async () => {
  const gateway = await GatewayUnderTest.start(temporaryFolder())
  const { client } = gateway
  onTestFinished(async () => {
    await gateway.gateway.stop(0)
    await client.transport.close()
  })
  const bench = await Workbench.create(client)
  const firing = await bench.create(aFiring({ spec: { event: { title: 'disk full' } } }))
  await bench.manager()

  const inputs: unknown[] = []
  const tokens: string[] = []
  const api: RunApi = {
    self: async (token) => {
      const answer = await gateway.self(token)
      if (answer.status === 200) {
        tokens.push(token)
        inputs.push(JSON.parse(answer.text))
      }
      return answer
    },
    report: (token, body) => gateway.report(token, body),
  }
  // The first pod is evicted; as it is shut down, it reports what its command left so far.
  let pods = 0
  const outputs = new Map<string | undefined, string>()
  await bench.kubelet(
    ({ metadata }) => {
      outputs.set(metadata.uid, pods === 0 ? 'cut short' : 'the answer')
      return pods++ === 0 ? { command: (_, signal) => untilAborted(signal) } : {}
    },
    gatewayRunner(client, api, ({ metadata }) => outputs.get(metadata.uid)),
  )
  const reference = { name: firing.metadata.name, uid: firing.metadata.uid ?? '' }
  const run = await bench.run({ agent: { repeatSafe: true }, session: { firing: reference } })
  await bench.until(run, ({ status }) => status?.phase === 'Running')
  expect(inputs).toMatchObject([{ prompt: 'Triage this.', event: { title: 'disk full' }, step: 'triage' }])

  const [lost] = await bench.pods()
  await evict(lost as Pod)
  const settled = await bench.settled(run)
  expect(settled.status).toMatchObject({
    phase: 'Succeeded',
    incarnation: { number: 1 },
    output: { inline: 'the answer' },
    result: { incarnation: 1 },
  })
  const [first = ''] = tokens
  expect(errorOf(await gateway.self(first))).toMatchObject({ status: 403, type: 'run.fenced' })
  expect(errorOf(await gateway.report(first, { output: 'late' }))).toMatchObject({ type: 'run.fenced' })
  expect((await bench.live(run)).status?.result).toEqual(settled.status?.result)

  async function evict({ metadata }: Pod): Promise<void> {
    const { name, namespace } = metadata
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } }
    await client.transport.request({
      method: 'POST',
      path: `/api/v1/namespaces/${namespace}/pods/${name}/eviction`,
      body,
    })
  }
})

function untilAborted(signal: AbortSignal): Promise<{ exitCode: number }> {
  return new Promise((end) => signal.addEventListener('abort', () => end({ exitCode: 143 })))
}
