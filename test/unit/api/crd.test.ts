import { describe, expect, it } from 'vitest'
import { crdOf } from '../../../src/api/crd.ts'
import { kinds } from '../../../src/api/kinds.ts'

describe.each(kinds.map((kind) => [kind.kind, kind] as const))('the CRD of %s', (_, kind) => {
  const crd = crdOf(kind)
  const version = crd.spec.versions[0]
  const root = version?.schema.openAPIV3Schema

  it('requires spec at the root, whose removal no rule on spec would see', () => {
    expect(root?.required).toEqual(['spec'])
  })

  it('has the status subresource, the category and a list kind', () => {
    expect(version?.subresources).toEqual({ status: {} })
    expect(crd.spec.names).toMatchObject({ categories: ['graphwright'], listKind: `${kind.kind}List` })
    expect(crd.metadata.name).toBe(`${kind.plural}.graphwright.dev`)
  })

  it('observes generations and conditions, and shows columns that exist in its schema', () => {
    expect(Object.keys(root?.properties?.status?.properties ?? {})).toEqual(
      expect.arrayContaining(['observedGeneration', 'conditions']),
    )
    for (const column of kind.columns) {
      const path = column.jsonPath.split('[')[0]?.split('.').slice(1) ?? []
      if (path[0] === 'metadata') continue
      const found = path.reduce((schema, name) => schema?.properties?.[name], root)
      expect(found, column.jsonPath).toBeDefined()
    }
  })

  it('bounds the length of names by a rule on the root', () => {
    expect(JSON.stringify(root?.['x-kubernetes-validations'])).toContain('size(self.metadata.name) <= 63')
  })
})

describe('short names and plurals', () => {
  it('are used once', () => {
    const names = kinds.flatMap((kind) => [kind.plural, kind.singular, ...kind.shortNames])
    expect(names).toHaveLength(new Set(names).size)
  })
})
