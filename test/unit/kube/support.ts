import { KubeConfig } from '@kubernetes/client-node'
import { KubeClient } from '../../../src/kube/client.ts'
import { type ConfigMap, configMapType, coreTypes } from '../../../src/kube/core-types.ts'
import { Transport, type TransportOptions } from '../../../src/kube/transport.ts'

/** Kubeconfig of a server without credentials. */
export function configFor(url: string, user: object = {}, cluster: object = {}): KubeConfig {
  const config = new KubeConfig()
  config.loadFromOptions({
    clusters: [{ name: 'test', server: url, skipTLSVerify: false, ...cluster }],
    users: [{ name: 'tester', ...user }],
    contexts: [{ name: 'test', cluster: 'test', user: 'tester' }],
    currentContext: 'test',
  })
  return config
}

export function clientFor(url: string, options: TransportOptions = {}): KubeClient {
  return new KubeClient(new Transport(configFor(url), options), coreTypes)
}

export function configMap(name: string, version: number, value = String(version)): ConfigMap {
  const metadata = { name, namespace: 'a', uid: `uid-${name}`, resourceVersion: String(version) }
  return { apiVersion: configMapType.apiVersion, kind: configMapType.kind, metadata, data: { value } }
}

/** A list answer. */
export function listOf(version: number, items: readonly ConfigMap[], next?: string): object {
  const metadata = { resourceVersion: String(version), ...(next === undefined ? {} : { continue: next }) }
  // As the real server does for built-in kinds, items come without apiVersion and kind.
  return { metadata, items: items.map(({ metadata, data }) => ({ metadata, data })) }
}

/** A bookmark carries a version and nothing else. */
export function bookmark(version: number): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { resourceVersion: String(version) } }
}
