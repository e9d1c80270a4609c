import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { oldestNode, whyNodeIsTooOld } from '../../../src/cli/node-version.ts'

it.each(['8.17.0', '20.20.2', '24.5.0'])('Node %s is too old: says which it is, and which is needed', (version) => {
  const why = whyNodeIsTooOld(version, '/usr/bin/node')
  expect(why).toContain(`Node ${oldestNode} or newer, and /usr/bin/node is ${version}`)
})

it.each([oldestNode, '24.6.1', '24.21.0', '25.0.0', '100.0.0'])('Node %s is new enough', (version) => {
  expect(whyNodeIsTooOld(version, '/usr/bin/node')).toBeUndefined()
})

it('needs what package.json says', () => {
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as { engines: { node: string } }
  expect(engines.node).toBe(`>=${oldestNode}`)
})
