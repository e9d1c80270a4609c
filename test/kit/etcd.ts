import { dirname } from 'node:path'
import { inject } from 'vitest'
import type {} from './control-plane-setup.ts'
import { Etcd } from './etcd-client.ts'

/** A key of etcd with the size of its value. */
export interface StoredKey {
  readonly key: string
  /** Bytes of key and value. */
  readonly bytes: number
}

/** The etcd of the run's control plane. Only one that the run has started itself shows it. */
export function testEtcd(): Etcd {
  return new Etcd(dirname(inject('kubeconfig')))
}

/** Every key of a namespace, of kinds of the operator and of what it makes: what it costs, managedFields and all. */
export async function storedIn(namespace: string): Promise<StoredKey[]> {
  const all = await testEtcd().range('/registry/')
  return all
    .filter(({ key }) => key.includes(`/${namespace}/`))
    .map(({ key, value }) => ({ key, bytes: Buffer.byteLength(key) + Buffer.byteLength(value) }))
}

/** Keys of a namespace that anybody has written after a revision. */
export async function writtenIn(namespace: string, after: bigint): Promise<string[]> {
  const keys = await testEtcd().range('/registry/', { keysOnly: true, after })
  return keys.map(({ key }) => key).filter((key) => key.includes(`/${namespace}/`))
}
