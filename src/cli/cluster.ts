import { kinds } from '../api/kinds.ts'
import { KubeClient } from '../kube/client.ts'
import { loadKubeConfig } from '../kube/config.ts'
import { coreTypes } from '../kube/core-types.ts'
import { Transport } from '../kube/transport.ts'
import type { KubeObject, ResourceType } from '../lib/object.ts'
import { cannotAsk } from './io.ts'
import type { GlobalOptions } from './options.ts'

/** The cluster and the namespace that a command works in. */
export interface Cluster {
  readonly client: KubeClient
  readonly namespace: string
}

/** Runs a command against the cluster of the kubeconfig, and lets go of it. */
export async function withCluster<T>(options: GlobalOptions, command: (cluster: Cluster) => Promise<T>): Promise<T> {
  const config = loadKubeConfig({ context: options.context, kubeconfig: options.kubeconfig })
  const fromContext = config.getContextObject(config.getCurrentContext())?.namespace
  const transport = new Transport(config, { timeoutMillis: 15_000 })
  try {
    const client = new KubeClient(transport, [...coreTypes, ...kinds])
    return await command({ client, namespace: options.namespace || fromContext || 'default' })
  } finally {
    await transport.close()
  }
}

/** The object of that name, or one line that says which names there are. */
export async function getNamed<T extends KubeObject>(
  { client, namespace }: Cluster,
  type: ResourceType<T>,
  name: string,
): Promise<T> {
  // As a script gives it whose variable is not set.
  if (name === '') throw cannotAsk('usage', `the name of the ${type.kind} is empty`)
  const found = await client.find(type, { name, namespace })
  return found ?? (await throwUnknown({ client, namespace }, type, name))
}

/** Says which names there are instead. */
export async function throwUnknown<T extends KubeObject>(
  { client, namespace }: Cluster,
  type: ResourceType<T>,
  name: string,
): Promise<never> {
  const { items } = await client.list(type, { namespace })
  throw cannotAsk(
    'not_found',
    unknownName(
      type.kind,
      name,
      namespace,
      items.map(({ metadata }) => metadata.name),
    ),
  )
}

const shownNames = 8

/** `there is no Automation x in the namespace team; there are: a, b`. */
export function unknownName(kind: string, name: string, namespace: string, others: readonly string[]): string {
  const start = `there is no ${kind} ${name} in the namespace ${namespace}`
  if (others.length === 0) return `${start}, and none of another name; choose the namespace by -n`
  const listed = others.toSorted().slice(0, shownNames).join(', ')
  return `${start}; there ${others.length === 1 ? 'is' : 'are'}: ${listed}${others.length > shownNames ? ', …' : ''}`
}
