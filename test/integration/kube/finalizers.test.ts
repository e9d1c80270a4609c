import { afterAll, beforeAll, expect, test } from 'vitest'
import type { KubeClient } from '../../../src/kube/client.ts'
import { isConflict, isNotFound } from '../../../src/kube/error.ts'
import { addFinalizer, removeFinalizer } from '../../../src/kube/finalizers.ts'
import type { ObjectRef } from '../../../src/lib/object.ts'
import { freshNamespace } from '../../kit/control-plane.ts'
import { type Widget, widget, widgetClient, widgetType } from './widget.ts'

const ours = 'graphwright.dev/settle'
const theirs = 'example.org/other'
let client: KubeClient
let namespace: string

beforeAll(async () => {
  client = await widgetClient()
  namespace = await freshNamespace(client)
})

afterAll(() => client.transport.close())

const read = (name: string) => client.get(widgetType, { name, namespace })

function refOf({ apiVersion, kind, metadata }: Widget): ObjectRef {
  return { apiVersion, kind, name: metadata.name, namespace }
}

async function create(name: string, finalizers: string[]): Promise<Widget> {
  const object = widget(name, namespace)
  return client.create({ ...object, metadata: { ...object.metadata, finalizers } })
}

test.each([
  ['none', []],
  ['another', [theirs]],
])('a finalizer is added to %s, and removed alone', async (title, finalizers) => {
  await addFinalizer(client, await create(`add-${title}`, finalizers), ours)
  const added = await read(`add-${title}`)
  expect(added.metadata.finalizers).toEqual([...finalizers, ours])
  await removeFinalizer(client, added, ours)
  expect((await read(`add-${title}`)).metadata.finalizers ?? []).toEqual(finalizers)
})

test.each([
  ['the first', []],
  ['another', ['example.org/one']],
])('a finalizer that somebody added meanwhile, as %s, is not lost', async (title, finalizers) => {
  const name = `race-${title.replace(' ', '-')}`
  const stale = await create(name, finalizers)
  await addFinalizer(client, stale, theirs)
  await expect(addFinalizer(client, stale, ours)).rejects.toSatisfy(isConflict)
  expect((await read(name)).metadata.finalizers).toEqual([...finalizers, theirs])
})

test('a list that moved meanwhile does not lose the wrong one', async () => {
  const stale = await create('moved', [theirs, ours])
  await removeFinalizer(client, stale, theirs)
  await expect(removeFinalizer(client, stale, ours)).rejects.toSatisfy(isConflict)
  expect((await read('moved')).metadata.finalizers).toEqual([ours])
})

test('nothing is added to an object that is being deleted', async () => {
  const stale = await create('leaving', [theirs])
  await client.delete(refOf(stale))
  await expect(addFinalizer(client, stale, ours)).rejects.toSatisfy(isConflict)
  await expect(addFinalizer(client, await read('leaving'), ours)).rejects.toSatisfy(isConflict)
})

test('removing the last one lets the object go, and doing it again is fine', async () => {
  const object = await create('last', [ours])
  await client.delete(refOf(object))
  expect((await read('last')).metadata.deletionTimestamp).toBeDefined()
  await removeFinalizer(client, object, ours)
  await expect(read('last')).rejects.toSatisfy(isNotFound)
  await removeFinalizer(client, object, ours)
})

test('a successor of the name keeps its finalizer', async () => {
  const first = await create('heir', [ours])
  await client.delete(refOf(first))
  await removeFinalizer(client, first, ours)
  await create('heir', [ours])
  await expect(removeFinalizer(client, first, ours)).rejects.toSatisfy(isConflict)
  expect((await read('heir')).metadata.finalizers).toEqual([ours])
})
