import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest'
import type { KubeClient } from '../../../src/kube/client.ts'
import { configMapType } from '../../../src/kube/core-types.ts'
import { freshNamespace, testClient } from '../../kit/control-plane.ts'
import { eventually } from '../../kit/eventually.ts'
import { lintStatus } from '../../kit/lint-status.ts'
import { installThings, run, stopAll } from './harness.ts'
import { testTypes, thing, thingController, thingType } from './thing.ts'

const finalizer = 'runtime.test/settle'
let client: KubeClient

beforeAll(async () => {
  client = testClient({ types: testTypes })
  await installThings(client)
})
afterEach(stopAll)
afterAll(() => client.transport.close())

/** Runs a manager in a process of its own, which kills itself at a write. */
function startDoomed(namespace: string, number: number, moment: string): ChildProcess {
  const script = new URL('crashing-manager.ts', import.meta.url).pathname
  const env = {
    ...process.env,
    KUBECONFIG: inject('kubeconfig'),
    NAMESPACE: namespace,
    CRASH_AT: String(number),
    CRASH_MOMENT: moment,
  }
  return spawn(process.execPath, [script], { env, stdio: ['pipe', 'inherit', 'inherit'] })
}

async function whenDone(namespace: string) {
  return eventually(
    async () => {
      const object = await client.get(thingType, { name: 't', namespace })
      expect(object.status).toMatchObject({ children: 2, conditions: [{ type: 'Ready', status: 'True' }] })
      return object
    },
    { timeout: 20_000 },
  )
}

/** What the world looks like to people, without what differs between two worlds. */
async function world(namespace: string) {
  const object = await whenDone(namespace)
  expect(lintStatus(object)).toEqual([])
  const { items } = await client.list(configMapType, { namespace, labelSelector: 'app.kubernetes.io/managed-by' })
  return {
    finalizers: object.metadata.finalizers,
    children: object.status?.children,
    conditions: object.status?.conditions?.map(({ type, status, reason }) => [type, status, reason]),
    configMaps: items.map(({ metadata, data }) => [
      metadata.name,
      data,
      metadata.ownerReferences?.map(({ uid }) => uid === object.metadata.uid),
    ]),
  }
}

/** The writes of the controller: finalizer, two creates, one apply, the status. After one is before the next. */
const moments = [
  [1, 'before'],
  [2, 'before'],
  [3, 'before'],
  [4, 'before'],
  [5, 'before'],
  [5, 'after'],
] as const

test('a manager killed before or after any of its writes leaves nothing twice and nothing undone', {
  timeout: 120_000,
}, async () => {
  const results: unknown[] = []
  for (const [number, moment] of moments) {
    const namespace = await freshNamespace(client)
    await client.create(thing('t', namespace, { children: 2, text: 'hello' }))
    const [, signal] = await once(startDoomed(namespace, number, moment), 'exit')
    expect(signal, `killed ${moment} write ${number}`).toBe('SIGKILL')
    await run(client, namespace, { ...thingController, finalizer })
    results.push(await world(namespace))
  }
  const [first, ...rest] = results
  expect(first).toEqual({
    finalizers: [finalizer],
    children: 2,
    conditions: [['Ready', 'True', 'Done']],
    configMaps: [
      ['t-0', { index: '0' }, [true]],
      ['t-1', { index: '1' }, [true]],
      ['t-1000', { text: 'hello' }, [true]],
    ],
  })
  for (const result of rest) expect(result).toEqual(first)
})
