import { describe, expect, it } from 'vitest'
import { kindPlan, kindRemoval } from '../../../hack/demo/kind.ts'
import { type Installed, occupied, type Survey, storageProblem } from '../../../hack/demo/survey.ts'

const crds = ['automations.graphwright.dev']

function found(installed: Partial<Installed> = {}, namespaces: Record<string, boolean> = {}): Survey {
  const nothing = { crds: [], release: undefined, namespaces: [] }
  const storageClasses = [{ name: 'ssd', isDefault: false }]
  return { installed: { ...nothing, ...installed }, namespaces: new Map(Object.entries(namespaces)), storageClasses }
}

describe('what is in a cluster of others', () => {
  it('is in the way where somebody else installed, and not where the demo did', () => {
    expect(occupied(found())).toBeUndefined()
    const installed = { crds, release: 'team/gw', namespaces: ['team'] }
    expect(occupied(found(installed))).toContain('as the Helm release team/gw. The demo leaves it alone.')
    expect(occupied(found({ crds, namespaces: ['ops'] }))).toContain('in the namespace ops, and not by Helm')
    expect(occupied(found({ crds }))).toContain('left by somebody, without an operator')
    expect(occupied(found({ crds, release: 'team/gw' }))).toContain('left by the Helm release team/gw')
    expect(occupied(found(installed, { 'graphwright-system': true }))).toBeUndefined()
  })

  it.each(['graphwright-system', 'graphwright-demo'])('is in the way where the namespace %s is somebody’s', (name) => {
    expect(occupied(found({}, { [name]: false }))).toContain(`The namespace ${name} is there already`)
    expect(occupied(found({}, { [name]: true }))).toBeUndefined()
  })

  it('is too little without a StorageClass for the volume', () => {
    expect(storageProblem(found(), undefined)).toContain('STORAGE_CLASS=name. It has: ssd.')
    expect(storageProblem(found(), 'ssd')).toBeUndefined()
    expect(storageProblem(found(), 'fast')).toBe('The cluster has no StorageClass fast. It has: ssd.')
    expect(storageProblem({ ...found(), storageClasses: [] }, undefined)).toContain('It has none at all.')
    const usual = { ...found(), storageClasses: [{ name: 'std', isDefault: true }] }
    expect(storageProblem(usual, undefined)).toBeUndefined()
  })
})

describe('kind', () => {
  it('is asked for a cluster once, for the images each time, and to remove what it made', () => {
    const load = ['load', 'image-archive', 'a.tar', '--name', 'graphwright-demo']
    const create = ['create', 'cluster', '--name', 'graphwright-demo', '--wait', '180s']
    expect(kindPlan(['other'], ['a.tar'])).toEqual([create, load])
    expect(kindPlan(['other', 'graphwright-demo'], ['a.tar'])).toEqual([load])
    expect(kindRemoval(['graphwright-demo'])).toEqual([['delete', 'cluster', '--name', 'graphwright-demo']])
    expect(kindRemoval(['other'])).toEqual([])
  })
})
