import { readdirSync, readFileSync } from 'node:fs'
import { loadAll } from 'js-yaml'
import type { KubeObject } from '../../src/lib/object.ts'

const folder = new URL('../../manifests/samples/', import.meta.url)

/** Paths of every sample, relative to manifests/samples. */
export function samplePaths(): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.yaml'))
    .sort()
}

/** The objects of a sample file. */
export function sampleObjects(path: string): KubeObject[] {
  return loadAll(readFileSync(new URL(path, folder), 'utf8')) as KubeObject[]
}

/** The first object of a kind in the sample named after it. */
export function sampleOf(kind: string): KubeObject & { spec: Record<string, unknown> } {
  const found = sampleObjects(`${kind.toLowerCase()}.yaml`).find((object) => object.kind === kind)
  if (found === undefined) throw new Error(`manifests/samples/${kind.toLowerCase()}.yaml holds no ${kind}`)
  return found as KubeObject & { spec: Record<string, unknown> }
}
