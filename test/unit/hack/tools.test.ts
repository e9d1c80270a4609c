import { execFileSync } from 'node:child_process'
import { chmodSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { linkPrograms } from '../../../hack/demo/tools.ts'
import { temporaryFolder } from '../../kit/temporary-folder.ts'

it('a person finds the programs of the demo by name, as often as it is run', () => {
  const folder = temporaryFolder()
  const program = join(folder, 'bundle')
  writeFileSync(program, '#!/bin/sh\necho "$0"\n')
  chmodSync(program, 0o755)
  const bin = join(folder, 'bin')
  linkPrograms(bin, { kubectl: program, stale: program })
  const plugin = 'kubectl-graphwright'
  linkPrograms(bin, { kubectl: program, [plugin]: program })
  expect(readdirSync(bin).toSorted()).toEqual(['kubectl', plugin])
  const env = { PATH: `${bin}:${process.env.PATH}` }
  expect(execFileSync(plugin, { env, encoding: 'utf8' }).trim()).toBe(join(bin, plugin))
})
