import { randomBytes } from 'node:crypto'
import { KubeConfig } from '@kubernetes/client-node'
import { inject } from 'vitest'
import { KubeClient } from '../../src/kube/client.ts'
import { loadKubeConfig } from '../../src/kube/config.ts'
import { coreTypes, namespaceType } from '../../src/kube/core-types.ts'
import { Transport, type TransportOptions } from '../../src/kube/transport.ts'
import type { KubeObject, ResourceType } from '../../src/lib/object.ts'
import type {} from './control-plane-setup.ts'

export interface TestClientOptions extends TransportOptions {
  /** A user of the control plane other than the administrator: `alice`, `bob`, `mallory`. */
  readonly user?: string
  /** Kinds beside the built-in ones. */
  readonly types?: readonly ResourceType<KubeObject>[]
  /** Another address for the same server: that of a fault proxy. */
  readonly server?: string
}

/** A client of the run's control plane, as its administrator by default. */
export function testClient(options: TestClientOptions = {}): KubeClient {
  return clientOf(testKubeConfig(options.user), options)
}

/** A client by any kubeconfig. */
export function clientOf(kubeconfig: KubeConfig, options: Omit<TestClientOptions, 'user'> = {}): KubeClient {
  const config = withServer(kubeconfig, options.server)
  return new KubeClient(new Transport(config, options), [...coreTypes, ...(options.types ?? [])])
}

/** The kubeconfig of the run's control plane. */
export function testKubeConfig(user?: string): KubeConfig {
  return loadKubeConfig({ kubeconfig: user === undefined ? inject('kubeconfig') : userKubeconfig(user) })
}

function userKubeconfig(user: string): string {
  const path = inject('userKubeconfigs')[user]
  if (path === undefined) throw new Error(`the control plane of this run has no user ${user}`)
  return path
}

/** The same credentials for the same server behind another address. */
function withServer(config: KubeConfig, server: string | undefined): KubeConfig {
  if (server === undefined) return config
  const moved = new KubeConfig()
  moved.loadFromOptions({
    clusters: config.getClusters().map((cluster) => ({ ...cluster, server })),
    users: config.getUsers(),
    contexts: config.getContexts(),
    currentContext: config.getCurrentContext(),
  })
  return moved
}

/** Creates a namespace that no other test uses, and returns its name. It goes with the control plane. */
export async function freshNamespace(client: KubeClient = testClient()): Promise<string> {
  const name = `test-${randomBytes(5).toString('hex')}`
  const { apiVersion, kind } = namespaceType
  await client.create({ apiVersion, kind, metadata: { name } })
  return name
}
