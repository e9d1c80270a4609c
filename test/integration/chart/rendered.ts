import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { loadAll } from 'js-yaml'
import { expect } from 'vitest'

const run = promisify(execFile)
const root = new URL('../../../', import.meta.url)
export const chart = new URL('charts/graphwright', root).pathname

/** Output of helm. Rejects with what it says where it refuses. */
export async function helm(...args: string[]): Promise<string> {
  const { stdout } = await run(new URL('hack/cluster/cluster', root).pathname, ['helm', ...args], {
    maxBuffer: 1 << 24,
  })
  return stdout
}

export interface Rendered {
  kind: string
  metadata: { name: string; namespace?: string }
  spec?: { template?: { spec: PodSpec }; ports?: unknown; storageClassName?: string; replicas?: number }
  subjects?: { namespace: string }[]
}
export interface PodSpec {
  serviceAccountName: string
  securityContext: object
  containers: { args: string[]; image: string; securityContext: object; volumeMounts: { mountPath: string }[] }[]
  volumes: object[]
  affinity: object
}

/** The chart's objects, rendered into a namespace with some values. */
export async function render(namespace: string, ...values: string[]): Promise<Rendered[]> {
  const flags = values.flatMap((value) => ['--set-json', value])
  const text = await helm('template', 'g', chart, '--namespace', namespace, '--kube-version', '1.33.0', ...flags)
  const objects = loadAll(text)
  expect(objects.filter((object) => object === null)).toEqual([])
  return objects as Rendered[]
}

/** The one object of this kind and name. */
export function one(objects: readonly Rendered[], kind: string, name: string): Rendered {
  const found = objects.filter((object) => object.kind === kind && object.metadata.name === name)
  expect(found, `${kind} ${name}`).toHaveLength(1)
  return found[0] as Rendered
}
