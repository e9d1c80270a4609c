import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { inject } from 'vitest'
import type {} from './control-plane-setup.ts'

/** A key of etcd with the size of its value. */
export interface StoredKey {
  readonly key: string
  /** Bytes of key and value. */
  readonly bytes: number
}

interface RangeAnswer {
  readonly kvs?: readonly { readonly key: string; readonly value?: string }[]
}

/**
 * What the control plane of this run has in its etcd under a prefix: what an object really costs, managedFields and all.
 * Only a control plane that the run has started itself shows its etcd.
 */
export async function storedKeys(prefix: string): Promise<StoredKey[]> {
  const directory = dirname(inject('kubeconfig'))
  const { ports } = JSON.parse(readFileSync(join(directory, 'cluster.json'), 'utf8')) as { ports: { etcd: number } }
  // The end of the range: the first key behind all that begin with the prefix.
  const end = Buffer.from(prefix)
  end.writeUInt8((end.at(-1) ?? 0) + 1, end.length - 1)
  const answer = await fetch(`http://127.0.0.1:${ports.etcd}/v3/kv/range`, {
    method: 'POST',
    body: JSON.stringify({ key: Buffer.from(prefix).toString('base64'), range_end: end.toString('base64') }),
  })
  if (!answer.ok) throw new Error(`etcd answered ${answer.status}: ${await answer.text()}`)
  const { kvs = [] } = (await answer.json()) as RangeAnswer
  return kvs.map(({ key, value = '' }) => {
    const [name, content] = [Buffer.from(key, 'base64'), Buffer.from(value, 'base64')]
    return { key: name.toString(), bytes: name.byteLength + content.byteLength }
  })
}

/** Every key of a namespace, of kinds of the operator and of what it makes. */
export async function storedIn(namespace: string): Promise<StoredKey[]> {
  const all = await storedKeys('/registry/')
  return all.filter(({ key }) => key.includes(`/${namespace}/`))
}
