import { readFileSync } from 'node:fs'
import { load } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { chart, one, render } from './rendered.ts'

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean | Schema
}

const root = JSON.parse(readFileSync(`${chart}/values.schema.json`, 'utf8')) as Schema & {
  readonly definitions: Readonly<Record<string, Schema>>
}

function resolved(schema: Schema): Schema {
  return schema.$ref === undefined ? schema : (root.definitions[schema.$ref.split('/').at(-1) ?? ''] ?? {})
}

/** Values that the schema has no entry for. */
function unknownValues(values: unknown, schema: Schema, path = ''): string[] {
  const { properties } = resolved(schema)
  if (typeof values !== 'object' || values === null || Array.isArray(values) || properties === undefined) return []
  return Object.entries(values).flatMap(([name, value]) => {
    const known = properties[name]
    return known === undefined ? [`${path}/${name}`] : unknownValues(value, known, `${path}/${name}`)
  })
}

/** Objects of the schema that take anything, and values that may be anything. */
function looseParts(schema: Schema, path = ''): string[] {
  const { type, enum: choices, properties, additionalProperties } = resolved(schema)
  if (type === undefined && choices === undefined) return [path]
  if (type !== 'object') return []
  const here = additionalProperties === undefined || additionalProperties === true ? [path] : []
  return [...here, ...Object.entries(properties ?? {}).flatMap(([name, child]) => looseParts(child, `${path}/${name}`))]
}

describe('the schema of the values', () => {
  it('has every value of values.yaml', () => {
    expect(unknownValues(load(readFileSync(`${chart}/values.yaml`, 'utf8')), root)).toEqual([])
  })

  it('is strict everywhere but in what Kubernetes itself checks, and in what Helm adds', () => {
    const affinity = ['nodeAffinity', 'podAffinity', 'podAntiAffinity'].map((name) => `/manager/affinity/${name}`)
    expect(looseParts(root)).toEqual(['/global', ...affinity])
  })
})

describe('helm refuses', { timeout: 120_000 }, () => {
  it.each([
    ['an unknown value', 'imagee={}', "additional properties 'imagee' not allowed"],
    [
      'an unknown value deep inside',
      'manager.leaderElection.enable=true',
      "additional properties 'enable' not allowed",
    ],
    [
      'a text where a switch is',
      'networkPolicy.enabled="yes"',
      "at '/networkPolicy/enabled': got string, want boolean",
    ],
    ['a number where a text is', 'image.tag=1.5', "at '/image/tag': got number, want string"],
    ['a text where a list is', 'watchNamespaces="team-a"', "at '/watchNamespaces': got string, want array"],
    ['a choice that does not exist', 'logLevel="loud"', "at '/logLevel': value must be one of 'trace', 'debug'"],
    [
      'a pull policy that does not exist',
      'image.pullPolicy="Sometimes"',
      "at '/image/pullPolicy': value must be one of",
    ],
    [
      'a repository with the tag in it',
      'image.repository="a.example/b:1"',
      "at '/image/repository': 'a.example/b:1' does",
    ],
    ['a tag that is none', 'image.tag="v1 beta"', "at '/image/tag': 'v1 beta' does not match pattern"],
    ['a name that is none', 'image.pullSecrets=["My Secret"]', "at '/image/pullSecrets/0': 'My Secret' does not match"],
    ['a namespace that is none', 'watchNamespaces=["a.b"]', "at '/watchNamespaces/0': 'a.b' does not match pattern"],
    ['the same namespace twice', 'watchNamespaces=["a","a"]', "at '/watchNamespaces': items at 0 and 1 are equal"],
    ['fewer replicas than none', 'manager.replicas=-1', "at '/manager/replicas': minimum: got -1, want 0"],
    ['a port that is none', 'notices.port=70000', "at '/notices/port': maximum: got 70,000, want 65,535"],
    [
      'an empty list of ports',
      'networkPolicy.apiServerPorts=[]',
      "at '/networkPolicy/apiServerPorts': minItems: got 0",
    ],
    ['an address that is no URL', 'notices.url="hooks"', "at '/notices/url': 'hooks' does not match pattern"],
    [
      'a quantity that is none',
      'manager.resources.limits.memory="much"',
      "at '/manager/resources/limits/memory': 'much'",
    ],
    ['a volume without a unit', 'gateway.storage.size="10"', "at '/gateway/storage/size': '10' does not match pattern"],
    ['a label that is none', 'gateway.podLabels.team="on call"', "at '/gateway/podLabels/team': 'on call' does not"],
    ['an annotation that is no text', 'manager.podAnnotations.a=true', "at '/manager/podAnnotations/a': got boolean"],
    [
      'an effect that does not exist',
      'gateway.tolerations=[{"effect":"Never"}]',
      "at '/gateway/tolerations/0/effect': value",
    ],
    ['an affinity that does not exist', 'manager.affinity.node={}', "additional properties 'node' not allowed"],
    ['a group without a name', 'policies.breakGlassGroups=[""]', "at '/policies/breakGlassGroups/0': minLength: got 0"],
    [
      'an interval that is none',
      'metrics.serviceMonitor.interval="often"',
      "at '/metrics/serviceMonitor/interval': 'often'",
    ],
    [
      'a runbook that is no URL',
      'metrics.prometheusRule.runbookURL="wiki"',
      "at '/metrics/prometheusRule/runbookURL': 'wiki'",
    ],
  ])('%s: %s', async (_, value, message) => {
    const refusal: unknown = await render('elsewhere', value).catch((error: Error) => error.message)
    expect(refusal).toContain("values don't meet the specifications of the schema")
    expect(refusal).toContain(message)
  })

  it.each([
    ['another registry, by digest', `image={"repository":"r.example:5000/a/b-c","tag":"sha256:${'0'.repeat(64)}"}`],
    ['quantities as numbers', 'manager.resources={"limits":{"cpu":1,"memory":"1Gi"},"requests":{"cpu":0.5}}'],
    [
      'tolerations',
      'manager.tolerations=[{"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":30}]',
    ],
    ['labels with a prefix', 'gateway.podLabels={"example.com/team":"on-call"}'],
  ])('not %s', async (_, value) => {
    await expect(render('elsewhere', value)).resolves.not.toEqual([])
  })
})

it('an image by digest is named as one', async () => {
  const digest = `sha256:${'0'.repeat(64)}`
  const text = JSON.stringify(await render('elsewhere', `image.tag="${digest}"`))
  expect(text).toContain(`"image":"localhost/graphwright@${digest}"`)
  expect(text).toContain(`--runner-image=localhost/graphwright@${digest}`)
})

it('groups that break the glass may have any name, and nothing of it acts in the policy', async () => {
  const groups = [
    "ops' team",
    'DOMAIN\\ops',
    '"quoted"',
    'two\nlines',
    "x'] || true || 'a' in ['b",
    '{{ .Release }}',
    '<é😀>',
  ]
  const objects = await render('elsewhere', `policies.breakGlassGroups=${JSON.stringify(groups)}`)
  const policy = one(objects, 'ValidatingAdmissionPolicy', 'graphwright-graph-owned') as unknown as {
    spec: { matchConditions: { name: string; expression: string }[] }
  }
  const { expression = '' } = policy.spec.matchConditions.find(({ name }) => name === 'not-breaking-glass') ?? {}
  // Texts of JSON are texts of CEL: what is read back is what was given.
  const list = /group in (\[.*\])\)\)$/s.exec(expression)?.[1] ?? ''
  expect(JSON.parse(list)).toEqual(groups)
})
