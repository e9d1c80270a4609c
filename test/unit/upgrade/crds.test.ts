import { readFileSync } from 'node:fs'
import { load } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import type { CustomResourceDefinition } from '../../../src/api/crd.ts'
import type { StructuralSchema } from '../../../src/api/structural-schema.ts'
import { narrowings } from '../../kit/crd-diff.ts'
import { previousCrds, previousReleaseProblem } from '../../kit/previous-release.ts'

function crd(properties: Record<string, StructuralSchema>, more: StructuralSchema = {}): CustomResourceDefinition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example' },
    spec: {
      group: 'example',
      scope: 'Namespaced',
      names: { kind: 'Thing', listKind: 'ThingList', plural: 'things', singular: 'thing', categories: [] },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties, ...more } },
          subresources: { status: {} },
          additionalPrinterColumns: [],
        },
      ],
    },
  }
}

const text: StructuralSchema = { type: 'string', maxLength: 10, minLength: 1 }
const keeping = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
const listed = (items: StructuralSchema, type = 'atomic') => ({ type: 'array', items, 'x-kubernetes-list-type': type })
const ruled = (rule: string) => ({ ...text, 'x-kubernetes-validations': [{ rule, message: '' }] })

describe('narrowings', () => {
  it.each<[string, StructuralSchema, StructuralSchema]>([
    ['nothing', text, text],
    ['another description', { ...text, description: 'a' }, { ...text, description: 'b' }],
    ['wider limits', text, { ...text, maxLength: 11, minLength: 0 }],
    ['no limits', text, { type: 'string' }],
    ['a further value', { ...text, enum: ['a'] }, { ...text, enum: ['a', 'b'] }],
    ['a new optional field', { type: 'object', properties: {} }, { type: 'object', properties: { b: text } }],
    ['a rule that is gone', ruled('true'), text],
    ['a field that the rest takes in', { type: 'object', properties: { b: text } }, keeping],
  ])('finds none in %s', (_, before, after) => {
    expect(narrowings(crd({ a: before }), crd({ a: after }))).toEqual([])
  })

  it.each<[string, StructuralSchema, StructuralSchema | undefined]>([
    ['.a is gone', text, undefined],
    ['.a type was "string" and is "integer"', text, { ...text, type: 'integer' }],
    ['.a maxLength was 10 and is 9', text, { ...text, maxLength: 9 }],
    ['.a maxLength was nothing and is 9', { type: 'string' }, { type: 'string', maxLength: 9 }],
    ['.a minLength was 1 and is 2', text, { ...text, minLength: 2 }],
    ['.a pattern was nothing and is "x"', text, { ...text, pattern: 'x' }],
    ['.a default was "x" and is nothing', { ...text, default: 'x' }, text],
    ['.a does not take b any more', { ...text, enum: ['a', 'b'] }, { ...text, enum: ['a'] }],
    ['.a is an enum now', text, { ...text, enum: ['a'] }],
    ['.a has a new rule: true', text, ruled('true')],
    ['.a is not nullable any more', { ...text, nullable: true }, text],
    ['.a does not keep unknown fields any more', keeping, { type: 'object', properties: { b: text } }],
    [
      '.a requires b now',
      { type: 'object', properties: { b: text } },
      { type: 'object', properties: { b: text }, required: ['b'] },
    ],
    ['.a{} is gone', { type: 'object', additionalProperties: text }, { type: 'object' }],
    ['.a[] maxLength was 10 and is 9', listed(text), listed({ ...text, maxLength: 9 })],
    ['.a x-kubernetes-list-type was "atomic" and is "map"', listed(text), listed(text, 'map')],
  ])('finds that %s', (expected, before, after) => {
    expect(narrowings(crd({ a: before }), crd(after === undefined ? {} : { a: after }))).toEqual([expected])
  })

  it('finds that a version, its storage, a short name or the scope has changed', () => {
    const [before, after] = [crd({}), crd({})]
    const [version] = after.spec.versions
    before.spec.names.shortNames = ['th']
    after.spec.scope = 'Cluster'
    after.spec.versions = version === undefined ? [] : [{ ...version, storage: false }]
    expect(narrowings(before, after)).toEqual([
      'scope was "Namespaced" and is "Cluster"',
      'short name th is gone',
      'v1 storage was true and is false',
    ])
    expect(narrowings(crd({}), { ...after, spec: { ...crd({}).spec, versions: [] } })).toEqual(['version v1 is gone'])
  })
})

/** What has changed since the previous release all the same, and why nobody loses anything by it. */
const accepted: Readonly<Record<string, readonly string[]>> = {
  // Written whole by one writer, so that nobody else owned a part of them; firings go through this in test/integration/upgrade.
  'automationfirings.yaml': ['.spec', '.status.admission', '.status.steps', '.status.output'].map(
    (path) => `${path} x-kubernetes-map-type was nothing and is "atomic"`,
  ),
  // It took anything and was not read.
  'automations.yaml': ['.spec.history{} is gone'],
  // About a field that is new.
  'runs.yaml': [
    '.status has a new rule: !has(oldSelf.cancelledAt) || (has(self.cancelledAt) && self.cancelledAt == oldSelf.cancelledAt)',
  ],
}

const problem = previousReleaseProblem()

describe.skipIf(problem !== undefined)(
  `the definitions of the kinds${problem === undefined ? '' : ` (${problem})`}`,
  () => {
    const files = problem === undefined ? [...previousCrds()] : []

    it.each(files)('%s takes and keeps what that of the previous release took', (file, before) => {
      const after = load(readFileSync(`crds/${file}`, 'utf8')) as CustomResourceDefinition
      expect(narrowings(before, after)).toEqual(accepted[file] ?? [])
    })
  },
)
