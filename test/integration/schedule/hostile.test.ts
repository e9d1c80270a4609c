import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { type Automation, automation } from '../../../src/api/automation.ts'
import { annotations } from '../../../src/api/labels.ts'
import type { JsonObject } from '../../../src/lib/json.ts'
import { eventually } from '../../kit/eventually.ts'
import { startOperator } from '../../kit/operator.ts'
import { Ticking } from './ticking.ts'

/** What people with many rights, or by mistake, write into Automations: each is answered, and none is stuck or spins. */

const yearly = '0 0 1 1 *'

async function begin(): Promise<Ticking> {
  const ticking = await Ticking.create()
  onTestFinished(() => ticking.client.transport.close())
  await startOperator(ticking.client, ticking.namespace)
  await ticking.ready()
  return ticking
}

/** Waits until the Automation has been looked at as it is, and this is so of it. */
function until(ticking: Ticking, name: string, isSo: (found: Automation) => boolean): Promise<Automation> {
  return eventually(async () => {
    const found = await ticking.get(name)
    const { metadata, status } = found
    if (status?.observedGeneration === metadata.generation && isSo(found)) return found
    throw new Error(`it is ${JSON.stringify({ metadata, status })}`)
  })
}

async function write(ticking: Ticking, name: string, patch: JsonObject, subresource?: 'status'): Promise<void> {
  const { apiVersion, kind } = automation
  const ref = { apiVersion, kind, name, namespace: ticking.namespace }
  await ticking.client.mergePatch(ref, patch, subresource === undefined ? {} : { subresource })
}

/** Nothing writes it any more. */
async function expectAtRest(ticking: Ticking, { metadata }: Automation): Promise<void> {
  await sleep(1500)
  expect((await ticking.get(metadata.name)).metadata.resourceVersion).toBe(metadata.resourceVersion)
}

it('a request to resume that is cut within a character is answered once', async () => {
  const ticking = await begin()
  await ticking.add('odd', yearly)
  await until(ticking, 'odd', ({ status }) => status?.state === 'Active')
  await write(ticking, 'odd', { metadata: { annotations: { [annotations.resumeRequested]: `${'x'.repeat(255)}😀` } } })
  const answered = await until(ticking, 'odd', ({ status }) => status?.failures?.resumeSeen !== undefined)
  expect(answered.status?.failures?.resumeSeen).toBe('x'.repeat(255))
  await expectAtRest(ticking, answered)
})

it('triggers of which there may not be so many are told of, though they are long', async () => {
  const ticking = await begin()
  const cron = '\u0001'.repeat(256)
  const triggers = ['a', 'b', 'c'].map((id) => ({ id, kind: 'schedule' as const, cron, timezone: 'x'.repeat(64) }))
  await ticking.add('many', '', { triggers })
  const told = await until(ticking, 'many', ({ status }) => status?.state === 'NotReady')
  expect(told.status?.readiness?.length).toBeGreaterThan(0)
  await expectAtRest(ticking, told)
})

it.each([
  ['watermark', 'garbage'],
  ['watermark', '2099-01-01T00:00:00.000Z'],
  ['changedAt', 'garbage'],
  ['resumedAt', '9999-12-31T23:59:59.999Z'],
])('a record that cannot be true is put right, and the schedule goes on: %s %s', async (field, value) => {
  const ticking = await begin()
  await ticking.add('yearly', yearly)
  const before = await until(ticking, 'yearly', ({ status }) => status?.schedule?.next !== undefined)
  await write(ticking, 'yearly', { status: { schedule: { [field]: value, next: null } } }, 'status')
  const healed = await until(ticking, 'yearly', ({ status: { schedule } = {} }) => {
    return schedule?.[field as 'watermark'] !== value && schedule?.next !== undefined
  })
  expect(healed.status?.schedule?.next).toBe(before.status?.schedule?.next)
  await expectAtRest(ticking, healed)
})
