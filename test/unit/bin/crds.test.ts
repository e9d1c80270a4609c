import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..', '..', '..')

describe('the generated CRDs', () => {
  it('are what src/api says (after a change of src/api run make crds)', () => {
    const { status, stderr } = spawnSync(process.execPath, ['src/bin/crds.ts', '--check'], {
      cwd: root,
      encoding: 'utf8',
    })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })
})
