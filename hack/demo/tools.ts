import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { root } from '../operator.ts'
import type { Access } from './access.ts'

const bundle = join(root, 'dist/graphwright.cjs')

/** What a person types after the demo, by name. The command line needs the Node that the checkout brings. */
export function demoPrograms({ kubectl }: Access): Record<string, string> {
  // One by its bare name is on the PATH anyway.
  const built = isAbsolute(kubectl) ? { kubectl } : {}
  return { ...built, node: process.execPath, graphwright: bundle, 'kubectl-graphwright': bundle }
}

/** Makes a folder for PATH in which the programs have these names, and nothing else is. */
export function linkPrograms(folder: string, programs: Readonly<Record<string, string>>): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const [name, path] of Object.entries(programs)) symlinkSync(path, join(folder, name))
}
