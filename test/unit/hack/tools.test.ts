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
  linkPrograms(bin, { kubectl: program, 'kubectl-graphwright': program })
  expect(readdirSync(bin).toSorted()).toEqual(['kubectl', 'kubectl-graphwright'])
  const env = { PATH: `${bin}:${process.env.PATH}` }
  expect(execFileSync('kubectl-graphwright', { env, encoding: 'utf8' }).trim()).toBe(join(bin, 'kubectl-graphwright'))
})
