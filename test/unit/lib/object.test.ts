import { expect, it } from 'vitest'
import { resourceOf } from '../../../src/lib/object.ts'

it.each([
  { apiVersion: 'v1', plural: 'pods', name: 'pods' },
  { apiVersion: 'batch/v1', plural: 'jobs', name: 'jobs.batch' },
  { apiVersion: 'graphwright.dev/v1alpha1', plural: 'runs', name: 'runs.graphwright.dev' },
])('$plural of $apiVersion are $name, as kubectl calls them', ({ apiVersion, plural, name }) => {
  expect(resourceOf({ apiVersion, plural })).toBe(name)
})
