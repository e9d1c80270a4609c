import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { root, toolFolder } from '../operator.ts'

const bundle = join(root, 'dist/graphwright.cjs')

/** What a person types after the demo, by name. The command line needs the Node that the checkout brings. */
export function demoPrograms(): Record<string, string> {
  const kubectl = join(toolFolder(), 'kubectl')
  return { kubectl, node: process.execPath, graphwright: bundle, 'kubectl-graphwright': bundle }
}

/** Makes a folder for PATH in which the programs have these names, and nothing else is. */
export function linkPrograms(folder: string, programs: Readonly<Record<string, string>>): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const [name, path] of Object.entries(programs)) symlinkSync(path, join(folder, name))
}
