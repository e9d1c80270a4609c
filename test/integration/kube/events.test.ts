import { afterAll, beforeAll, expect, test } from 'vitest'
import type { KubeClient } from '../../../src/kube/client.ts'
import { eventType } from '../../../src/kube/core-types.ts'
import { EventRecorder } from '../../../src/kube/events.ts'
import { freshNamespace } from '../../kit/control-plane.ts'
import { widget, widgetClient } from './widget.ts'

let client: KubeClient
let namespace: string

beforeAll(async () => {
  client = await widgetClient()
  namespace = await freshNamespace(client)
})

afterAll(() => client.transport.close())

test('events are found at their object, repetitions as a series, the longest note too', async () => {
  const failures: unknown[] = []
  const recorder = new EventRecorder(client, {
    controller: 'graphwright.dev/manager',
    instance: 'manager-0',
    onError: (message, error) => failures.push([message, error]),
  })
  const object = await client.create(widget('w', namespace))
  const planned = { type: 'Normal', reason: 'Planned', note: 'a plan is ready', action: 'Plan' } as const
  for (let i = 0; i < 3; i++) recorder.record(object, planned)
  recorder.record(object, { type: 'Warning', reason: 'Refused', note: 'ü'.repeat(2_000) })
  await recorder.flush()
  recorder.record(object, planned)
  await recorder.flush()
  expect(failures).toEqual([])

  const { items } = await client.list(eventType, { namespace, fieldSelector: `regarding.name=w` })
  const shown = items.map(({ reason, type, series, regarding }) => ({
    reason,
    type,
    count: series?.count,
    uid: regarding?.uid,
  }))
  expect(shown).toHaveLength(2)
  expect(shown).toContainEqual({ reason: 'Planned', type: 'Normal', count: 4, uid: object.metadata.uid })
  expect(shown).toContainEqual({ reason: 'Refused', type: 'Warning', count: undefined, uid: object.metadata.uid })
})
