import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { oldestNode, whyNodeIsTooOld } from '../../../src/cli/node-version.ts'

it('names the Node that is too old, and the one that is needed', () => {
  expect(whyNodeIsTooOld('20.20.2', '/usr/bin/node')).toMatch(/Node 24 or newer, and \/usr\/bin\/node is 20\.20\.2/)
  expect(whyNodeIsTooOld('24.0.0', '/usr/bin/node')).toBeUndefined()
  expect(whyNodeIsTooOld('100.0.0', '/usr/bin/node')).toBeUndefined()
})

it('needs what package.json says', () => {
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as { engines: { node: string } }
  expect(engines.node).toBe(`>=${oldestNode}`)
})
