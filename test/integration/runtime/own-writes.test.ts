import { setTimeout } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { WatchRequest } from '../../../src/kube/call-options.ts'
import { KubeClient } from '../../../src/kube/client.ts'
import { configMapType, coreTypes } from '../../../src/kube/core-types.ts'
import type { KubeObject, ResourceType } from '../../../src/lib/object.ts'
import type { ControllerSpec } from '../../../src/runtime/controller.ts'
import { freshNamespace, testClient } from '../../kit/control-plane.ts'
import { eventually } from '../../kit/eventually.ts'
import { installThings, run, stopAll } from './harness.ts'
import {
  childOf,
  readyStatus,
  type Thing,
  type ThingStatus,
  testTypes,
  thing,
  thingController,
  thingType,
} from './thing.ts'

const delayMillis = 400

/** What it watches of ConfigMaps comes late, as from an overloaded API server. */
class SlowWatchClient extends KubeClient {
  override async watch(type: ResourceType<KubeObject>, request: WatchRequest): Promise<AsyncIterable<Uint8Array>> {
    const stream = await super.watch(type, request)
    return type.kind === configMapType.kind ? delayed(stream) : stream
  }
}

async function* delayed(stream: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  for await (const chunk of stream) {
    await setTimeout(delayMillis)
    yield chunk
  }
}

let client: KubeClient
let slow: KubeClient
let namespace: string

beforeAll(async () => {
  client = testClient({ types: testTypes })
  slow = new SlowWatchClient(client.transport, [...coreTypes, ...testTypes])
  await installThings(client)
})
beforeEach(async () => {
  namespace = await freshNamespace(client)
})
afterEach(stopAll)
afterAll(() => client.transport.close())

/** Creates one child a pass until there are as many as wanted, and notes how many each pass saw. */
function oneByOne(seen: number[]): ControllerSpec<Thing, ThingStatus> {
  return {
    ...thingController,
    reconcile: (object, { now, read }) => {
      const children = read.byOwner(configMapType, object.metadata.uid ?? '')
      seen.push(children.length)
      const done = children.length >= (object.spec.children ?? 0)
      return {
        ...(!done && { create: [childOf(object, children.length, { pass: String(seen.length) })] }),
        status: readyStatus(object, now, { children: children.length }),
      }
    },
  }
}

test('a pass never looks at the state before its own last write, however late the watch is', async () => {
  const seen: number[] = []
  const started = await run(slow, namespace, oneByOne(seen))
  await client.create(thing('t', namespace, { children: 3 }))
  await eventually(async () => {
    expect((await client.get(thingType, { name: 't', namespace })).status?.children).toBe(3)
  })
  expect(seen.filter((count, pass) => count !== seen[pass - 1])).toEqual([0, 1, 2, 3])
  expect(seen.filter((count) => count < 3)).toEqual([0, 1, 2])
  const creates = started.writes.filter(({ verb }) => verb === 'create')
  expect(creates.map(({ ref }) => ref.name)).toEqual(['t-0', 't-1', 't-2'])
  expect(await started.metric('graphwright_own_write_wait_seconds_count{controller="things"}')).toBeGreaterThanOrEqual(
    3,
  )
  expect(await started.metric('graphwright_own_write_wait_seconds_sum{controller="things"}')).toBeGreaterThan(
    delayMillis / 1000,
  )
})
