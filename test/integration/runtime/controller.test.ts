import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { KubeClient } from '../../../src/kube/client.ts'
import { configMapType } from '../../../src/kube/core-types.ts'
import { isNotFound, KubeError } from '../../../src/kube/error.ts'
import { refOf } from '../../../src/lib/object.ts'
import { Terminal, Wait } from '../../../src/runtime/result.ts'
import { freshNamespace, testClient } from '../../kit/control-plane.ts'
import { eventually } from '../../kit/eventually.ts'
import { lintStatus } from '../../kit/lint-status.ts'
import { eventsOf, installThings, run, stopAll } from './harness.ts'
import { childOf, readyStatus, type Thing, testTypes, thing, thingController, thingType } from './thing.ts'

let client: KubeClient
let namespace: string

beforeAll(async () => {
  client = testClient({ types: testTypes })
  await installThings(client)
})
beforeEach(async () => {
  namespace = await freshNamespace(client)
})
afterEach(stopAll)
afterAll(() => client.transport.close())

function read(name: string): Promise<Thing> {
  return client.get(thingType, { name, namespace })
}

function condition(object: Thing, type = 'Ready') {
  return object.status?.conditions?.find((each) => each.type === type)
}

/** Waits for a reason of `Ready`, and lints the status that has it. */
async function readyWith(name: string, reason: string): Promise<Thing> {
  const object = await eventually(async () => {
    const seen = await read(name)
    expect(condition(seen)).toMatchObject({ reason })
    return seen
  })
  expect(lintStatus(object)).toEqual([])
  return object
}

const settings = {
  name: 't-1000',
  get namespace() {
    return namespace
  },
}

/** Wakes a key without changing its spec. */
async function touch(name: string, value: string): Promise<void> {
  await client.mergePatch(refOf(thing(name, namespace)), { metadata: { annotations: { touched: value } } })
}

/** The passes of a controller so far, and one more when the object is touched. */
async function onePassMore(name: string, seen: () => number): Promise<void> {
  const before = seen()
  await touch(name, String(before))
  await eventually(() => seen() > before)
}

function counting(spec = thingController) {
  let passes = 0
  const reconcile: typeof spec.reconcile = (object, context) => {
    passes++
    return spec.reconcile(object, context)
  }
  return { spec: { ...spec, reconcile }, passes: () => passes }
}

describe('what a reconciler asks for', () => {
  test('is created and applied, owned and labelled, shown in the status and in an event', async () => {
    await run(client, namespace, thingController)
    await client.create(thing('t', namespace, { children: 2, text: 'hello' }))
    const object = await readyWith('t', 'Done')
    expect(object.status).toMatchObject({ children: 2, observedGeneration: 1 })
    const { items } = await client.list(configMapType, { namespace, labelSelector: 'app.kubernetes.io/managed-by' })
    expect(items.map(({ metadata }) => metadata.name).sort()).toEqual(['t-0', 't-1', 't-1000'])
    for (const { metadata } of items) {
      const owner = { apiVersion: 'runtime.test/v1', kind: 'Thing', name: 't', uid: object.metadata.uid }
      expect(metadata.ownerReferences).toEqual([{ ...owner, controller: true, blockOwnerDeletion: true }])
    }
    expect(await client.get(configMapType, settings)).toMatchObject({ data: { text: 'hello' } })
    const [event] = await eventually(async () => {
      const events = await eventsOf(client, object)
      return events.length > 0 && events
    })
    expect(event).toMatchObject({ type: 'Normal', reason: 'Settled', note: 'all children exist' })
  })

  test('is not written again in the steady state, and not by another process either', async () => {
    const counted = counting()
    const first = await run(client, namespace, counted.spec)
    await client.create(thing('t', namespace, { children: 2, text: 'hello' }))
    await readyWith('t', 'Done')
    await onePassMore('t', counted.passes)
    const versions = async () => {
      const { items } = await client.list(configMapType, { namespace })
      return items.map(({ metadata }) => [metadata.name, metadata.resourceVersion])
    }
    const before = { versions: await versions(), status: (await read('t')).status, writes: first.writes.length }
    for (let i = 0; i < 3; i++) await onePassMore('t', counted.passes)
    expect(first.writes).toHaveLength(before.writes)
    await stopAll()
    const again = counting()
    const second = await run(client, namespace, again.spec)
    await eventually(() => again.passes() > 0)
    await onePassMore('t', again.passes)
    expect(second.writes.map(({ verb }) => verb)).toEqual(['apply'])
    expect(await versions()).toEqual(before.versions)
    expect((await read('t')).status).toEqual(before.status)
  })

  test('is kept: what somebody changes in an applied object is put right', async () => {
    await run(client, namespace, thingController)
    await client.create(thing('t', namespace, { text: 'hello' }))
    await readyWith('t', 'Done')
    const child = await client.get(configMapType, settings)
    await client.mergePatch(refOf(child), { data: { text: 'drifted' } }, { fieldManager: 'somebody' })
    await eventually(async () => {
      expect((await client.get(configMapType, settings)).data).toEqual({ text: 'hello' })
    })
  })

  test('is deleted, and a second time is no error', async () => {
    const counted = counting({
      ...thingController,
      reconcile: (object, { now }) => ({
        delete: [refOf(childOf(object, 0)), refOf(childOf(object, 1))],
        status: readyStatus(object, now),
      }),
    })
    await client.create(childOf(thing('t', namespace), 0))
    const started = await run(client, namespace, counted.spec)
    await client.create(thing('t', namespace))
    await readyWith('t', 'Done')
    await expect(client.get(configMapType, { name: 't-0', namespace })).rejects.toSatisfy(isNotFound)
    await onePassMore('t', counted.passes)
    expect(started.writes.filter(({ verb }) => verb === 'delete')).toHaveLength(1)
    expect(await started.passes('error')).toBe(0)
  })

  test('may be metadata of the reconciled object itself, which does not come to own itself', async () => {
    await run(client, namespace, {
      ...thingController,
      reconcile: (object, { now }) => {
        const metadata = { name: object.metadata.name, namespace, labels: { seen: 'yes' } }
        return { apply: [{ apiVersion: 'runtime.test/v1', kind: 'Thing', metadata }], status: readyStatus(object, now) }
      },
    })
    await client.create(thing('t', namespace, { text: 'kept' }))
    const object = await readyWith('t', 'Done')
    expect(object.metadata.labels).toEqual({ seen: 'yes' })
    expect(object.metadata.ownerReferences).toBeUndefined()
    expect(object.spec).toEqual({ text: 'kept' })
  })
})

test('a change that comes with our own apply to the object is looked at before a status is written', async () => {
  let seen: number | undefined
  let interfered = false
  const basedOn: unknown[] = []
  await run(
    client,
    namespace,
    {
      ...thingController,
      reconcile: (object, { now }) => {
        seen = object.metadata.generation
        const metadata = { name: object.metadata.name, namespace, labels: { seen: 'yes' } }
        return { apply: [{ apiVersion: 'runtime.test/v1', kind: 'Thing', metadata }], status: readyStatus(object, now) }
      },
    },
    {
      faults: async (moment, { verb, ref }) => {
        if (moment === 'after') return
        if (verb === 'apply status') basedOn.push([seen, (await read('t')).metadata.generation])
        if (verb !== 'apply' || interfered) return
        interfered = true
        await client.mergePatch(ref, { spec: { text: 'changed' } })
      },
    },
  )
  await client.create(thing('t', namespace))
  await readyWith('t', 'Done')
  expect(basedOn).toEqual([[2, 2]])
})

test('another object is asked by an annotation, once, and all else of it stays', async () => {
  const asked = { 'example.com/please': 'end' }
  const reconcile: typeof thingController.reconcile = ({ metadata }) => {
    if (metadata.name !== 'asking') return {}
    const ref = { apiVersion: 'v1', kind: 'ConfigMap', name: 'asked', namespace }
    const gone = { ...ref, name: 'gone' }
    return { annotate: [gone, ref].map((one) => ({ ref: one, annotations: asked })) }
  }
  const counted = counting({ ...thingController, reads: [configMapType], reconcile })
  const { writes } = await run(client, namespace, counted.spec)
  const labels = { theirs: 'stays' }
  await client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'asked', namespace, labels } })
  await client.create(thing('asking', namespace))
  const read = () => client.get(configMapType, { name: 'asked', namespace })
  await eventually(async () => expect((await read()).metadata).toMatchObject({ annotations: asked, labels }))
  const before = (await read()).metadata.resourceVersion
  await onePassMore('asking', counted.passes)
  await onePassMore('asking', counted.passes)
  expect((await read()).metadata.resourceVersion).toBe(before)
  expect(writes.filter(({ ref }) => ref.name === 'asked')).toHaveLength(1)
})

describe('a name that is taken', () => {
  test('by ourselves is ours', async () => {
    const started = await run(client, namespace, {
      ...thingController,
      // The cache knows nothing of ConfigMaps: each pass meets its own objects.
      watches: [],
    })
    await client.create(thing('t', namespace, { children: 2 }))
    const object = await readyWith('t', 'Done')
    await client.mergePatch(refOf(object), { spec: { children: 3 } })
    await eventually(async () => expect((await read('t')).status?.children).toBe(3))
    expect(started.writes.filter(({ verb }) => verb === 'create').length).toBeGreaterThanOrEqual(5)
    expect(await started.passes('error')).toBe(0)
    expect(
      (await client.list(configMapType, { namespace, labelSelector: 'app.kubernetes.io/managed-by' })).items,
    ).toHaveLength(3)
  })

  test.each([
    ['created', { children: 1 }, 't-0'],
    ['applied', { text: 'hello' }, 't-1000'],
  ])('by somebody else is left alone when it should be %s, and says so', async (_, spec, name) => {
    const foreign = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } }
    const made = await client.create(Object.assign(foreign, { data: { theirs: 'yes' } }))
    const started = await run(client, namespace, thingController)
    await client.create(thing('t', namespace, spec))
    const object = await readyWith('t', 'NameConflict')
    expect(condition(object, 'Stalled')).toMatchObject({ status: 'True', reason: 'NameConflict' })
    expect(condition(object)?.message).toBe(
      `ConfigMap ${namespace}/${name} exists already and is not controlled by Thing t; it is left alone. Delete or rename it so that this one can be created`,
    )
    expect(await client.get(configMapType, { name, namespace })).toEqual(made)
    const events = await eventually(async () => {
      const all = await eventsOf(client, object)
      return all.length > 0 && all
    })
    expect(events).toHaveLength(1)
    expect(events[0]).toMatchObject({ type: 'Warning', reason: 'NameConflict' })
    await client.delete(refOf(made))
    await client.mergePatch(refOf(object), { spec: { children: 2 } })
    await readyWith('t', 'Done')
    expect(
      await started.metric('controller_runtime_terminal_reconcile_errors_total{controller="things"}'),
    ).toBeGreaterThan(0)
  })

  test('by a child of an earlier object of the same name is waited for', async () => {
    const object = await client.create(thing('t', namespace))
    const owner = { apiVersion: 'runtime.test/v1', kind: 'Thing', name: 't', uid: 'gone-long-ago', controller: true }
    const left = childOf(object, 0)
    // The finalizer keeps the garbage collector from being faster than the test. It may also be slower: it hears of a
    // new kind half a minute late, so the test takes its part.
    Object.assign(left.metadata, { ownerReferences: [owner], finalizers: ['runtime.test/hold'] })
    const held = await client.create(left)
    const started = await run(client, namespace, thingController)
    await client.mergePatch(refOf(object), { spec: { children: 1 } })
    const waiting = await readyWith('t', 'NameConflict')
    expect(condition(waiting, 'Reconciling')?.message).toBe(
      `ConfigMap ${namespace}/t-0 exists already and is controlled by Thing t of another uid; it should be gone soon, this one is created then`,
    )
    await client.delete(refOf(held))
    await client.mergePatch(refOf(held), { metadata: { finalizers: null } })
    await readyWith('t', 'Done')
    const child = await client.get(configMapType, { name: 't-0', namespace })
    expect(child.metadata.ownerReferences?.[0]?.uid).toBe(object.metadata.uid)
    expect(await started.passes('error')).toBe(0)
  })
})

describe('a pass that does not succeed', () => {
  test('on a status that somebody changed meanwhile is tried again quietly', async () => {
    let interfered = 0
    const started = await run(client, namespace, thingController, {
      faults: async (moment, { verb, ref }) => {
        if (moment !== 'before' || verb !== 'apply status' || interfered++ > 0) return
        await client.mergePatch({ ...ref }, { metadata: { labels: { someone: 'else' } } })
      },
    })
    await client.create(thing('t', namespace, { children: 1 }))
    const object = await readyWith('t', 'Done')
    expect(object.metadata.labels).toEqual({ someone: 'else' })
    expect(await started.passes('requeue')).toBe(1)
    expect(await started.passes('error')).toBe(0)
    expect((await eventsOf(client, object)).filter(({ type }) => type === 'Warning')).toEqual([])
  })

  test('because it waits says for what, and comes back when it is there', async () => {
    const started = await run(client, namespace, {
      ...thingController,
      reads: [configMapType],
      watches: [
        {
          type: configMapType,
          keys: ({ metadata }) => (metadata.name === 'needed' ? [`${namespace}/t`] : []),
        },
      ],
      reconcile: (object, { now, read: cache }) => {
        if (cache.get(configMapType, `${namespace}/needed`) === undefined) {
          throw new Wait('ConfigMissing', 'ConfigMap needed does not exist; create it')
        }
        return { status: readyStatus(object, now) }
      },
    })
    await client.create(thing('t', namespace))
    const waiting = await readyWith('t', 'ConfigMissing')
    expect(condition(waiting)).toMatchObject({ status: 'False', message: 'ConfigMap needed does not exist; create it' })
    expect(condition(waiting, 'Reconciling')).toMatchObject({ status: 'True', reason: 'ConfigMissing' })
    await client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'needed', namespace } })
    const done = await readyWith('t', 'Done')
    expect(condition(done, 'Reconciling')).toBeUndefined()
    expect(await started.passes('error')).toBe(0)
  })

  test('with an error shows a stable message, backs off, and recovers', async () => {
    let failures = 2
    const started = await run(client, namespace, {
      ...thingController,
      reconcile: (object, { now }) => {
        if (failures-- > 0) throw new Error(`cannot reach 10.0.0.${failures} at ${Date.now()}`)
        return { status: readyStatus(object, now) }
      },
    })
    await client.create(thing('t', namespace))
    const failed = await readyWith('t', 'ReconcileError')
    expect(condition(failed)).toMatchObject({ status: 'False' })
    expect(failed.status?.observedGeneration).toBeUndefined()
    const done = await readyWith('t', 'Done')
    expect(done.status?.observedGeneration).toBe(1)
    expect(await started.passes('error')).toBe(2)
    expect(await started.metric('workqueue_retries_total{name="things"}')).toBe(2)
  })

  test('with another error each time keeps its pauses, though each changes the status', async () => {
    const counted = counting({
      ...thingController,
      reconcile: () => {
        const status = counted.passes() % 2 === 0 ? 500 : 502
        throw new KubeError({ status, reason: 'InternalError', message: 'out of order' })
      },
    })
    await run(client, namespace, counted.spec)
    await client.create(thing('t', namespace))
    await eventually(async () => expect(condition(await read('t'))?.message).toContain('502'))
    await eventually(async () => expect(condition(await read('t'))?.message).toContain('500'))
    await eventually(async () => expect(condition(await read('t'))?.message).toContain('502'))
    // One second, then two: a loop would have made hundreds.
    expect(counted.passes()).toBeLessThanOrEqual(6)
  })

  test('because only the spec can be wrong is not tried again until the spec changes', async () => {
    const counted = counting({
      ...thingController,
      reconcile: (object, { now }) => {
        if (object.spec.text === 'bad') throw new Terminal('TextInvalid', 'text cannot be bad; choose another')
        return { status: readyStatus(object, now) }
      },
    })
    await run(client, namespace, counted.spec)
    await client.create(thing('t', namespace, { text: 'bad' }))
    const stalled = await readyWith('t', 'TextInvalid')
    expect(condition(stalled, 'Stalled')).toMatchObject({
      status: 'True',
      message: 'text cannot be bad; choose another',
    })
    await onePassMore('t', counted.passes)
    await onePassMore('t', counted.passes)
    expect(await eventsOf(client, stalled)).toHaveLength(1)
    await client.mergePatch(refOf(stalled), { spec: { text: 'good' } })
    expect(condition(await readyWith('t', 'Done'), 'Stalled')).toBeUndefined()
  })
})

test('fields of the status that belong to another process stay, and their changes wake the key', async () => {
  let tokens = 0
  const started = await run(client, namespace, {
    ...thingController,
    reconcile: (object, { now }) => {
      tokens = object.status?.usage?.tokens ?? 0
      return { status: readyStatus(object, now, { children: tokens }) }
    },
  })
  await client.create(thing('t', namespace))
  const object = await readyWith('t', 'Done')
  await client.mergePatch(
    refOf(object),
    { status: { usage: { tokens: 7 } } },
    { subresource: 'status', fieldManager: 'gateway' },
  )
  await eventually(async () => expect((await read('t')).status).toMatchObject({ children: 7, usage: { tokens: 7 } }))
  expect(tokens).toBe(7)
  expect(started.writes.map(({ verb }) => verb)).toEqual(['apply status', 'apply status'])
})

describe('a finalizer', () => {
  const finalizer = 'runtime.test/settle'

  test('is there before the first effect, and goes when the reconciler says so', async () => {
    const started = await run(client, namespace, {
      ...thingController,
      finalizer,
      watches: [
        ...(thingController.watches ?? []),
        { type: configMapType, keys: ({ metadata }) => (metadata.name === 'gate' ? [`${namespace}/t`] : []) },
      ],
      reconcile: (object, context) => {
        if (object.metadata.deletionTimestamp === undefined) return thingController.reconcile(object, context)
        const open = context.read.get(configMapType, `${namespace}/gate`) === undefined
        return { finalized: open, status: readyStatus(object, context.now, { children: open ? 0 : 99 }) }
      },
    })
    await client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'gate', namespace } })
    await client.create(thing('t', namespace, { children: 1 }))
    const object = await readyWith('t', 'Done')
    expect(object.metadata.finalizers).toEqual([finalizer])
    expect(started.writes[0]?.verb).toBe('add finalizer')
    await client.delete(refOf(object))
    await eventually(async () => expect((await read('t')).status?.children).toBe(99))
    await client.delete(refOf({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'gate', namespace } }))
    await eventually(async () => {
      await expect(read('t')).rejects.toSatisfy(isNotFound)
    })
    expect(started.writes.at(-1)?.verb).toBe('remove finalizer')
    expect(await started.passes('error')).toBe(0)
  })

  test('of somebody else does not make a deleted object ours', async () => {
    const counted = counting()
    await run(client, namespace, counted.spec)
    const held = thing('t', namespace, { children: 1 })
    held.metadata.finalizers = ['runtime.test/other']
    await client.create(held)
    const object = await readyWith('t', 'Done')
    const child = { ...(await client.get(configMapType, { name: 't-0', namespace })) }
    await client.delete(refOf(object))
    await eventually(async () => (await read('t')).metadata.deletionTimestamp !== undefined)
    await client.delete(refOf(child))
    await eventually(async () => {
      await expect(client.get(configMapType, { name: 't-0', namespace })).rejects.toSatisfy(isNotFound)
    })
    await client.create(thing('other', namespace))
    await readyWith('other', 'Done')
    await expect(client.get(configMapType, { name: 't-0', namespace })).rejects.toSatisfy(isNotFound)
    await client.mergePatch(refOf(object), { metadata: { finalizers: null } })
  })
})

test('a pass that takes long comes back at the time it asked for, not later', async () => {
  const passes: number[] = []
  const reconcile = async () => {
    passes.push(performance.now())
    await new Promise((resolve) => setTimeout(resolve, 600))
    return { after: 800 }
  }
  await run(client, namespace, { ...thingController, reconcile })
  await client.create(thing('slow', namespace))
  await eventually(() => passes.length >= 2)
  const [first = 0, second = 0] = passes
  expect(second - first).toBeGreaterThanOrEqual(799)
  expect(second - first).toBeLessThan(1300)
})
