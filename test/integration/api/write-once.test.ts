import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { kinds } from '../../../src/api/kinds.ts'
import type { KubeError } from '../../../src/kube/error.ts'
import { digestJson } from '../../../src/lib/digest.ts'
import type { JsonObject } from '../../../src/lib/json.ts'
import type { KubeObject, ObjectRef } from '../../../src/lib/object.ts'
import { freshNamespace, testClient } from '../../kit/control-plane.ts'
import { installCrds } from '../../kit/crds.ts'
import { sampleOf } from '../../kit/samples.ts'

const client = testClient({ types: kinds })
let namespace: string

beforeAll(async () => {
  await installCrds(client)
  namespace = await freshNamespace(client)
})

afterAll(() => client.transport.close())

/** Creates the sample of a kind under a name of its own. */
async function saved(kind: string, spec: Record<string, unknown> = {}): Promise<ObjectRef> {
  const sample = sampleOf(kind)
  const metadata = { name: '', generateName: `${kind.toLowerCase()}-`, namespace }
  const object = { ...sample, metadata, spec: { ...sample.spec, ...spec } }
  const { apiVersion, metadata: created } = await client.create<KubeObject>(object)
  return { apiVersion, kind, namespace, name: created.name }
}

function patch(ref: ObjectRef, body: JsonObject) {
  return client.mergePatch(ref, body)
}

function patchStatus(ref: ObjectRef, status: JsonObject | null) {
  return client.mergePatch(ref, { status }, { subresource: 'status' })
}

const immutable = 'spec is immutable: create another object instead'

describe('frozen specs', () => {
  const changes: [string, JsonObject][] = [
    ['AutomationProgram', { formatVersion: 2 }],
    ['AutomationProgram', { program: { entries: [] } }],
    ['AgentVersion', { repeatSafe: false }],
    ['AgentVersion', { runtime: { container: { command: null } } }],
    ['AutomationFiring', { event: { name: 'Grace' } }],
    ['AutomationFiring', { event: { name: null, nom: 'Ada' } }],
    ['AutomationFiring', { event: null }],
    ['AutomationFiring', { idempotencyKey: 'later' }],
    ['Session', { timeoutSeconds: null }],
    ['Session', { environment: { spec: { network: 'open' } } }],
    ['Session', { environment: { spec: { tolerations: [{ key: 'a' }] } } }],
    ['Run', { sequence: 1 }],
  ]
  it.each(changes)('%s refuses the change %j', async (kind, spec) => {
    await expect(patch(await saved(kind), { spec })).rejects.toThrow(immutable)
  })

  it('refuse predicates and schemas changed inside a program', async () => {
    const { program } = sampleOf('AutomationProgram').spec as { program: { entries: object[]; steps: object[] } }
    const step = { ...program.steps[0], predicates: [{ kind: 'equals', value: true }], schema: { a: { b: 1 } } }
    const ref = await saved('AutomationProgram', { program: { ...program, steps: [step] } })
    const place = '/spec/program/steps/0'
    for (const op of [
      { op: 'replace', path: `${place}/predicates/0/value`, value: false },
      { op: 'replace', path: `${place}/schema/a`, value: { c: 1 } },
      { op: 'remove', path: `${place}/schema` },
    ] as const) {
      await expect(client.patchJson(ref, [op]), JSON.stringify(op)).rejects.toThrow(immutable)
    }
  })

  it('let labels and finalizers change', async () => {
    const ref = await saved('AutomationFiring')
    const metadata = { labels: { a: 'b' }, finalizers: ['graphwright.dev/settle'] }
    expect(await patch(ref, { metadata })).toMatchObject({ metadata })
  })
})

describe('a plan', () => {
  const sample = sampleOf('AutomationGraphPlan').spec as { content: { digest: string } & JsonObject }
  const approval = { digest: sample.content.digest, by: 'jane' }
  const frozen = 'a plan is immutable: change the graph to get another plan'

  it.each([
    ['a changed value', { revision: 2 }],
    ['a key renamed in the document', { document: { environment: null, environmenT: 'default' } }],
    ['a member added to the document', { document: { layout: {} } }],
    ['a field taken away', { program: null }],
    ['a pin taken away', { pins: [] }],
  ])('refuses %s [A-148]', async (_, content) => {
    await expect(patch(await saved('AutomationGraphPlan'), { spec: { content } })).rejects.toThrow(frozen)
  })

  it('takes one approval and keeps it', async () => {
    const ref = await saved('AutomationGraphPlan')
    expect(await patch(ref, { spec: { approval } })).toMatchObject({ spec: { approval } })
    const given = 'an approval is given once and cannot be changed or taken back'
    await expect(patch(ref, { spec: { approval: null } })).rejects.toThrow(given)
    await expect(patch(ref, { spec: { approval: { by: 'joe' } } })).rejects.toThrow(given)
    await expect(patch(ref, { spec: null })).rejects.toThrow('spec: Required value')
  })

  it('takes no approval of another plan', async () => {
    const other = { digest: digestJson('other'), by: 'jane' }
    await expect(patch(await saved('AutomationGraphPlan'), { spec: { approval: other } })).rejects.toThrow(
      'approval.digest must be the content.digest of this plan',
    )
  })

  it('takes no approval while it is blocked', async () => {
    const blockers = [{ code: 'agent_missing', detail: 'There is no Agent greeter.' }]
    const ref = await saved('AutomationGraphPlan', { content: { ...sample.content, blockers } })
    await expect(patch(ref, { spec: { approval } })).rejects.toThrow(
      'a plan with blockers cannot be approved: resolve them first, which makes a new plan',
    )
  })
})

describe('the outcomes of a firing', () => {
  const recorded = { steps: { a: { kind: 'completed', output: content('x') }, b: { kind: 'running' } } }
  const once = 'a terminal step outcome is written once and cannot be changed or removed'

  async function withOutcomes(): Promise<ObjectRef> {
    const ref = await saved('AutomationFiring')
    await patchStatus(ref, recorded)
    return ref
  }

  it.each([
    ['changed', { steps: { a: { kind: 'failed' } } }],
    ['given another output', { steps: { a: { output: content('y') } } }],
    ['given a reason', { steps: { a: { reason: 'late' } } }],
    ['taken away', { steps: { a: null } }],
    ['taken away with all steps', { steps: null }],
  ])('are never %s', async (_, status) => {
    await expect(patchStatus(await withOutcomes(), status)).rejects.toThrow(once)
  })

  it('survive an apply that omits them', async () => {
    const ref = await saved('AutomationFiring')
    const object = await client.get(client.typeOf(ref.apiVersion, ref.kind), ref)
    const first = await client.applyStatus({ ...object, status: recorded } as KubeObject, { fieldManager: 'test' })
    const later = { ...first, status: { steps: { b: { kind: 'running' } } } }
    await expect(client.applyStatus(later as KubeObject, { fieldManager: 'test' })).rejects.toThrow(once)
    const stale = { ...object, status: recorded } as KubeObject
    await expect(client.applyStatus(stale, { fieldManager: 'test' })).rejects.toMatchObject({ status: 409 })
  })

  it('do not go with the whole status', async () => {
    await expect(patchStatus(await withOutcomes(), null)).rejects.toThrow('status cannot be removed')
  })

  it('may be added and settled while they run', async () => {
    const ref = await withOutcomes()
    await patchStatus(ref, { steps: { b: { kind: 'waiting' }, c: { kind: 'skipped' } } })
    await patchStatus(ref, { steps: { b: { kind: 'failed', reason: 'agent_failed' } } })
    await expect(patchStatus(ref, { steps: { b: { kind: 'running' } } })).rejects.toThrow(once)
  })

  it('have at most 100 steps, and the rule is affordable for all of them', async () => {
    const ref = await saved('AutomationFiring')
    const steps = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [`step-${index}`, { kind: 'completed', output: content('x') }]),
    )
    await patchStatus(ref, { steps })
    await patchStatus(ref, { step: 'step-99' })
    await expect(patchStatus(ref, { steps: { 'step-50': null } })).rejects.toThrow(once)
    await expect(patchStatus(ref, { steps: { another: { kind: 'running' } } })).rejects.toThrow(/steps: Too many: 101/)
  })

  it('end in one result', async () => {
    const ref = await saved('AutomationFiring')
    await patchStatus(ref, { result: 'completed' })
    for (const result of ['failed', null]) {
      await expect(patchStatus(ref, { result })).rejects.toThrow('the result of a firing is written once')
    }
  })

  it('belong to one admission', async () => {
    const ref = await saved('AutomationFiring')
    await patchStatus(ref, { admission: admission() })
    const once = 'admission is written once'
    await expect(patchStatus(ref, { admission: null })).rejects.toThrow(once)
    await expect(patchStatus(ref, { admission: { entry: 'other' } })).rejects.toThrow(once)
    await expect(patchStatus(ref, { admission: { environment: { spec: { network: 'open' } } } })).rejects.toThrow(once)
  })
})

describe('the status of a run', () => {
  const result = { output: content('done'), incarnation: 0, reportedAt: '2026-11-30T12:00:00Z' }

  it('takes one result and keeps it', async () => {
    const ref = await saved('Run')
    await patchStatus(ref, { result })
    const once = 'the result of a run is written once'
    await expect(patchStatus(ref, { result: { output: content('other') } })).rejects.toThrow(once)
    await expect(patchStatus(ref, { result: null })).rejects.toThrow(once)
    await expect(patchStatus(ref, null)).rejects.toThrow('status cannot be removed')
  })

  it('takes one result of each incarnation', async () => {
    const ref = await saved('Run')
    await patchStatus(ref, { result: { ...result, incarnation: 1 } })
    await patchStatus(ref, { result: { output: content('again'), incarnation: 2 } })
    const once = 'the result of a run is written once'
    await expect(patchStatus(ref, { result: { output: content('late'), incarnation: 1 } })).rejects.toThrow(once)
  })

  it('takes one Job and one pod of each incarnation', async () => {
    const ref = await saved('Run')
    await patchStatus(ref, { incarnation: { number: 0, job: 'a' } })
    await patchStatus(ref, { incarnation: { jobUID: 'job', pod: 'a-1', podUID: 'pod' } })
    for (const change of [{ job: 'b' }, { jobUID: 'other' }, { podUID: 'other' }, { jobUID: null }, { podUID: null }]) {
      await expect(patchStatus(ref, { incarnation: change })).rejects.toThrow('are recorded once')
    }
    await patchStatus(ref, { incarnation: { number: 1, job: 'b', jobUID: null, pod: null, podUID: null } })
  })

  it('counts incarnations up', async () => {
    const ref = await saved('Run')
    await patchStatus(ref, { incarnation: { number: 1, job: 'a' } })
    await patchStatus(ref, { incarnation: { number: 2, job: 'b' } })
    await expect(patchStatus(ref, { incarnation: { number: 1 } })).rejects.toThrow('incarnations only count up')
    await expect(patchStatus(ref, { incarnation: null })).rejects.toThrow('incarnations only count up')
  })
})

describe('the status subresource', () => {
  it('keeps status out of a create and out of a change of spec', async () => {
    const ref = await saved('Environment')
    const changed = await patch(ref, { status: { observedGeneration: 9 } })
    expect(changed).not.toHaveProperty('status')
  })

  it('refuses a condition without a reason', async () => {
    const conditions = [{ type: 'Ready', status: 'True', message: '', lastTransitionTime: '2026-11-30T12:00:00Z' }]
    const error = await patchStatus(await saved('Environment'), { conditions }).catch((reason: KubeError) => reason)
    expect(error).toMatchObject({ message: expect.stringContaining('status.conditions[0].reason: Required value') })
  })
})

function content(text: string): JsonObject {
  return { inline: text, digest: digestJson(text), size: text.length }
}

function admission(): JsonObject {
  return {
    automationUID: 'a',
    automationGeneration: 1,
    entry: 'by-hand',
    pins: [],
    environment: { name: 'default', uid: 'e', generation: 1, spec: { network: 'isolated' } },
    principal: { serviceAccountName: 'greeter', uid: 's' },
    admittedAt: '2026-11-30T12:00:00Z',
  }
}
