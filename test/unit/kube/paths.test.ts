import { expect, it } from 'vitest'
import { automation } from '../../../src/api/automation.ts'
import { isNotFound } from '../../../src/kube/error.ts'
import { collectionPath, objectPath } from '../../../src/kube/paths.ts'

const paths = (name: string) => [
  () => objectPath(automation, { name, namespace: 'team-a' }),
  () => objectPath(automation, { name: 'triage', namespace: name }),
  () => collectionPath(automation, name),
]

it.each(['.', '..'])('nothing has the name %s, which would be a step in the path', (name) => {
  for (const path of paths(name)) {
    expect(path).toThrow(`nothing can have the name "${name}"`)
    try {
      path()
    } catch (error) {
      expect(isNotFound(error)).toBe(true)
    }
  }
})

it.each(['../../x', '%2e%2e', 'a/b', 'a?b#c', '...', '\\..', 'a\u0000b'])('%j stays one part of the path', (name) => {
  for (const path of paths(name)) {
    const { pathname, search, hash } = new URL(`https://server.example${path()}`)
    expect([pathname, search, hash]).toEqual([path(), '', ''])
  }
})
