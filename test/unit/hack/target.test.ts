import { describe, expect, it } from 'vitest'
import { imageName, imageText, targetOf } from '../../../hack/demo/target.ts'

const digest = `sha256:${'0'.repeat(64)}`

describe('where the demo runs', () => {
  it('is a cluster of its own where nothing is named, with everything that make hands on empty', () => {
    expect(targetOf({})).toEqual({ kind: 'local' })
    expect(targetOf({ context: '', cluster: '', image: '', yes: '' })).toEqual({ kind: 'local' })
    expect(targetOf({ cluster: 'kind', yes: '1' })).toEqual({ kind: 'kind' })
  })

  it('is the cluster of a context, and the answer is yes only where it was given', () => {
    const target = { context: 'staging', image: 'registry.example:5000/team/graphwright:0.1.0', storageClass: 'ssd' }
    expect(targetOf(target)).toEqual({
      kind: 'context',
      context: 'staging',
      image: { repository: 'registry.example:5000/team/graphwright', tag: '0.1.0' },
      pullSecret: undefined,
      storageClass: 'ssd',
      isAgreed: false,
    })
    expect(targetOf({ context: 'staging', yes: '1' })).toMatchObject({ isAgreed: true, image: undefined })
  })

  it.each([
    ['a cluster that is not known', { cluster: 'minikube' }, 'CLUSTER=minikube: only CLUSTER=kind is known'],
    ['two clusters at once', { context: 'a', cluster: 'kind' }, 'CONTEXT and CLUSTER both name a cluster'],
    ['an image for a cluster of its own', { image: 'a:1' }, 'IMAGE is for clusters of others'],
    ['another answer', { context: 'a', yes: 'maybe' }, 'the answer to the question is given with YES=1'],
    ['an image without a tag', { context: 'a', image: 'registry.example:5000/graphwright' }, 'with a tag or a digest'],
    ['an image that is none', { context: 'a', image: 'my image:1' }, 'with a tag or a digest'],
  ])('refuses %s', (_, wishes, message) => {
    expect(() => targetOf(wishes)).toThrow(message)
  })

  it.each([
    ['graphwright:dev', 'graphwright', 'dev'],
    ['localhost/graphwright:dev', 'localhost/graphwright', 'dev'],
    [`r.example:5000/a/b@${digest}`, 'r.example:5000/a/b', digest],
    [`r.example/a:1@${digest}`, 'r.example/a', digest],
  ])('takes %s apart', (text, repository, tag) => {
    expect(imageName(text)).toEqual({ repository, tag })
    expect(imageText(imageName(text))).toBe(text.replace(':1@', '@'))
  })
})
