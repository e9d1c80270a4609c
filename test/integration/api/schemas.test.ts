import { load } from 'js-yaml'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { kinds } from '../../../src/api/kinds.ts'
import type { KubeError } from '../../../src/kube/error.ts'
import type { JsonObject } from '../../../src/lib/json.ts'
import type { KubeObject } from '../../../src/lib/object.ts'
import { freshNamespace, testClient } from '../../kit/control-plane.ts'
import { installCrds } from '../../kit/crds.ts'
import { sampleObjects, sampleOf, samplePaths } from '../../kit/samples.ts'

const client = testClient({ types: kinds })
let namespace: string

beforeAll(async () => {
  await installCrds(client)
  namespace = await freshNamespace(client)
})

afterAll(() => client.transport.close())

/** What the server says to a document that it must refuse. */
async function refusal(object: KubeObject): Promise<KubeError> {
  const outcome = await client.create(placed(object), { dryRun: true }).then(
    () => undefined,
    (error: KubeError) => error,
  )
  if (outcome === undefined) throw new Error(`the server accepts ${object.kind} ${object.metadata.name}`)
  return outcome
}

function placed(object: KubeObject): KubeObject {
  return { ...object, metadata: { ...object.metadata, namespace } }
}

describe('the samples', () => {
  it.each(samplePaths())('%s is accepted', async (path) => {
    for (const object of sampleObjects(path)) {
      const created = await client.create(placed(object), { dryRun: true })
      expect(created.kind).toBe(object.kind)
    }
  })

  it.each(kinds.map((kind) => kind.kind))('there is one of the kind %s', (kind) => {
    expect(sampleOf(kind).kind).toBe(kind)
  })
})

describe.each(kinds.map((kind) => [kind.kind, kind] as const))('%s refuses', (kind, type) => {
  const sample = sampleOf(kind)
  const misspelt = { ...sample, spec: { ...sample.spec, colour: 'red' } }

  it('an unknown field when it is created', async () => {
    const { status, message } = await refusal(misspelt)
    expect({ status, message }).toEqual({
      status: 400,
      message: expect.stringMatching(/strict decoding error: unknown field "spec\.colour"/),
    })
  })

  it('an unknown field when it is applied', async () => {
    const object = placed({ ...misspelt, metadata: { name: 'applied' } })
    await expect(client.apply(object, { fieldManager: 'test' })).rejects.toMatchObject({
      status: 500,
      message: expect.stringMatching(/\.spec\.colour: field not declared in schema/),
    })
  })

  it('a name over 63 characters', async () => {
    const { message } = await refusal({ ...sample, metadata: { name: 'a'.repeat(64) } })
    expect(message).toContain('metadata.name is longer than 63 characters; choose a shorter name')
  })

  it('to be without spec', async () => {
    const { spec, ...without } = sample
    expect((await refusal(without)).message).toContain('spec: Required value')
  })

  it('a spec that is taken away later', async () => {
    const { metadata } = await client.create(placed({ ...sample, metadata: { ...sample.metadata, name: 'whole' } }))
    const ref = { apiVersion: type.apiVersion, kind, namespace, name: metadata.name }
    await expect(client.mergePatch(ref, { spec: null })).rejects.toThrow('spec: Required value')
  })
})

interface Case {
  readonly title: string
  readonly kind: string
  readonly spec: string
  readonly message: RegExp
}

const cases: readonly Case[] = [
  {
    title: 'an applyPolicy that does not exist',
    kind: 'AutomationGraph',
    spec: 'applyPolicy: Sometimes',
    message: /spec\.applyPolicy: Unsupported value: "Sometimes": supported values: "Review", "Automatic"/,
  },
  {
    title: 'a node of an unknown kind [A-114]',
    kind: 'AutomationGraph',
    spec: 'nodes: [{ id: a, kind: step_magic }]',
    message: /spec\.nodes\[0\]\.kind: Unsupported value: "step_magic"/,
  },
  {
    title: 'a graph without nodes',
    kind: 'AutomationGraph',
    spec: 'nodes: []',
    message: /spec\.nodes: Invalid value: 0: spec\.nodes in body should have at least 1 items/,
  },
  {
    title: 'a graph without environment [A-073]',
    kind: 'AutomationGraph',
    spec: 'environment: null',
    message: /spec\.environment: Required value/,
  },
  {
    title: 'a prompt over 64 KiB',
    kind: 'AutomationGraph',
    spec: `nodes: [{ id: a, kind: agent, agent: b, prompt: ${'x'.repeat(65537)} }]`,
    message: /spec\.nodes\[0\]\.prompt: Too long: may not be more than 65536 bytes/,
  },
  {
    title: 'the name of an input over 63 characters',
    kind: 'AutomationGraph',
    spec: `nodes: [{ id: a, kind: step_agent, inputBindings: { ${'k'.repeat(64)}: { sourceNodeId: b } } }]`,
    message: /spec\.nodes\[0\]\.inputBindings: Invalid value: a key is longer than 63 characters/,
  },
  {
    title: 'the name of an agent that no object can have',
    kind: 'AutomationGraph',
    spec: 'nodes: [{ id: a, kind: agent, agent: Not_A_Name }]',
    message: /spec\.nodes\[0\]\.agent: Invalid value: "Not_A_Name"/,
  },
  {
    title: 'a target with two members',
    kind: 'Automation',
    spec: `target: { agent: { name: a }, program: { name: b, digest: "sha256:${'0'.repeat(64)}" } }`,
    message: /spec\.target: Invalid value: target needs exactly one of agent and program/,
  },
  {
    title: 'a target without members',
    kind: 'Automation',
    spec: 'target: {}',
    message: /spec\.target: Invalid value: target needs exactly one of agent and program/,
  },
  {
    title: 'a fourth trigger',
    kind: 'Automation',
    spec: 'triggers: [{ id: a, kind: manual }, { id: b, kind: manual }, { id: c, kind: manual }, { id: d, kind: manual }]',
    message: /spec\.triggers: Too many: 4: must have at most 3 items/,
  },
  {
    title: 'an idempotency key of a scheduled firing',
    kind: 'AutomationFiring',
    spec: '{ trigger: schedule, idempotencyKey: a }',
    message: /spec: Invalid value: idempotencyKey belongs to manual firings/,
  },
  {
    title: 'an occurrence of a manual firing',
    kind: 'AutomationFiring',
    spec: 'occurrence: "2026-11-30T12:00:00Z"',
    message: /spec: Invalid value: occurrence belongs to scheduled firings/,
  },
  {
    title: 'a network that is neither isolated nor open',
    kind: 'Environment',
    spec: 'network: vpn',
    message: /spec\.network: Unsupported value: "vpn": supported values: "isolated", "open"/,
  },
  {
    title: 'a deadline of no time at all',
    kind: 'Environment',
    spec: 'deadlineSeconds: 0',
    message: /spec\.deadlineSeconds: Invalid value: 0: .*greater than or equal to 1/,
  },
  {
    title: 'a size that is no quantity',
    kind: 'Environment',
    spec: 'workspaceSize: large',
    message: /spec\.workspaceSize: Invalid value: "large"/,
  },
  {
    title: 'an agent without a runtime member',
    kind: 'Agent',
    spec: 'runtime: { container: null }',
    message: /spec\.runtime: Invalid value: runtime needs exactly one member; this release knows container/,
  },
  {
    title: 'a runtime that this release does not know',
    kind: 'Agent',
    spec: 'runtime: { model: { profile: fast } }',
    message: /unknown field "spec\.runtime\.model"/,
  },
  {
    title: 'a digest that is none',
    kind: 'AgentVersion',
    spec: 'digest: abc',
    message: /spec\.digest: Invalid value: "abc"/,
  },
  {
    title: 'a step of an unknown kind',
    kind: 'AutomationProgram',
    spec: 'program: { entries: [], steps: [{ id: a, kind: magic, after: [] }] }',
    message: /spec\.program\.steps\[0\]\.kind: Unsupported value: "magic"/,
  },
  {
    title: 'an action that a plan does not know',
    kind: 'AutomationGraphPlan',
    spec: 'content: { dispositions: [{ kind: Automation, name: a, action: Replace }] }',
    message: /spec\.content\.dispositions\[0\]\.action: Unsupported value: "Replace"/,
  },
  {
    title: 'a negative attempt',
    kind: 'Session',
    spec: 'attempt: -1',
    message: /spec\.attempt: Invalid value: -1/,
  },
  {
    title: 'a run without a session',
    kind: 'Run',
    spec: 'session: null',
    message: /spec\.session: Required value/,
  },
]

describe('the server refuses, and says where', () => {
  it.each(cases)('$kind: $title', async ({ kind, spec, message }) => {
    const sample = sampleOf(kind)
    const object = { ...sample, spec: merged(sample.spec, load(spec) as JsonObject) }
    expect((await refusal(object)).message).toMatch(message)
  })

  it('a document too large to keep, without a reason between 1.5 and 3 MiB', async () => {
    const layout = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`k${index}`, 'x'.repeat(65536)]))
    const object = withSpec('AutomationGraph', { layout })
    await expect(client.create(placed(object))).rejects.toMatchObject({
      status: 500,
      message: expect.stringContaining('etcdserver: request is too large'),
    })
  })

  it('a document too large to read', async () => {
    const layout = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`k${index}`, 'x'.repeat(65536)]))
    const object = withSpec('AutomationGraph', { layout })
    await expect(client.create(placed(object))).rejects.toMatchObject({ status: 413 })
  })
})

describe('the server keeps what it cannot know', () => {
  it('members of free-form objects, nulls among them', async () => {
    const outputSchema = { type: 'object', properties: { a: { default: null, enum: [null, 'x'] } } }
    const nodes = [{ id: 'parse', kind: 'step_parse_json', outputSchema, retries: { later: null } }]
    const object = placed({ ...withSpec('AutomationGraph', { nodes }), metadata: { name: 'free-form' } })
    const created = (await client.create(object)) as KubeObject & { spec: { nodes: unknown[] } }
    expect(created.spec.nodes).toEqual(nodes)
  })

  it('an event of any JSON type', async () => {
    for (const event of ['text', 12, true, [1, null], { a: { b: null } }]) {
      const object = { ...withSpec('AutomationFiring', { event }), metadata: { name: '', generateName: 'event-' } }
      const created = (await client.create(placed(object))) as KubeObject & { spec: { event: unknown } }
      expect(created.spec.event).toEqual(event)
    }
  })

  it('fills in defaults', async () => {
    const object = placed({ ...withSpec('AutomationGraph', {}), metadata: { name: 'defaults' } })
    expect(await client.create(object)).toMatchObject({
      spec: { applyPolicy: 'Review', driftPolicy: 'Report', planHistoryLimit: 10 },
    })
  })
})

function withSpec(kind: string, spec: Record<string, unknown>): KubeObject {
  const sample = sampleOf(kind)
  return { ...sample, spec: { ...sample.spec, ...spec } } as KubeObject
}

/** RFC 7396, as far as the cases need it: objects merge, null removes. */
function merged(base: Record<string, unknown>, patch: JsonObject): Record<string, unknown> {
  const result = { ...base }
  for (const [key, value] of Object.entries(patch)) {
    const old = result[key]
    if (value === null) delete result[key]
    else if (isObject(value) && isObject(old) && key !== 'target') result[key] = merged(old, value as JsonObject)
    else result[key] = value
  }
  return result
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
