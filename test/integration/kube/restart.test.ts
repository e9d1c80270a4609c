import type { ChildProcess } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { KubeClient } from '../../../src/kube/client.ts'
import { loadKubeConfig } from '../../../src/kube/config.ts'
import { type ControlPlane, killApiServer, startControlPlane } from '../../kit/cluster-tool.ts'
import { clientOf, freshNamespace } from '../../kit/control-plane.ts'
import { eventually } from '../../kit/eventually.ts'
import { FaultProxy } from '../../kit/fault-proxy.ts'
import { Witness, Writer } from './witness.ts'

// A control plane of its own: the other tests would not like what is done to this one.
let controlPlane: ControlPlane
let direct: KubeClient
let proxy: FaultProxy
let successor: ChildProcess | undefined

beforeAll(async () => {
  controlPlane = await startControlPlane()
  direct = clientOf(loadKubeConfig({ kubeconfig: controlPlane.kubeconfig }))
  proxy = await FaultProxy.start(controlPlane.server)
})

afterAll(async () => {
  await direct?.transport.close()
  await proxy?.close()
  successor?.stdin?.end()
  await controlPlane?.stop()
})

test('an informer survives the death of the API server, and an expired version after it', async () => {
  const namespace = await freshNamespace(direct)
  const writer = new Writer(direct, namespace)
  const plain = new Witness(clientOf(loadKubeConfig({ kubeconfig: controlPlane.kubeconfig })), namespace)
  const late = new Witness(
    clientOf(loadKubeConfig({ kubeconfig: controlPlane.kubeconfig }), { server: proxy.url }),
    namespace,
  )
  for (let i = 0; i < 30; i++) await writer.once()
  await plain.start()
  await late.start()
  // A write after the list: who has seen it has a watch open.
  await writer.once()
  await plain.catchesUp(direct)
  await late.catchesUp(direct)

  // `late` resumes only when the server has come back with an empty watch cache, which does not reach back so far.
  proxy.hold()
  proxy.reset()
  for (let i = 0; i < 30; i++) await writer.once()
  const startAgain = await killApiServer(controlPlane)
  await eventually(() => plain.restarts.includes('refused'))
  successor = await startAgain()
  proxy.heal()

  await plain.catchesUp(direct)
  await late.catchesUp(direct)
  for (let i = 0; i < 30; i++) await writer.once()
  await plain.catchesUp(direct)
  await late.catchesUp(direct)
  plain.expectTruth(writer)
  late.expectTruth(writer)
  expect(late.restarts).toContain('expired')
  await plain.stop()
  await late.stop()
})
