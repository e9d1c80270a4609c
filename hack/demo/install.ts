import { operatorNamespace } from '../operator.ts'
import { type Access, helm, kubectl } from './access.ts'
import { type ForeignCluster, sampleNamespace } from './foreign.ts'
import { demoLabel } from './survey.ts'
import { type ImageName, Refusal } from './target.ts'

const restricted = { 'pod-security.kubernetes.io/enforce': 'restricted' }

/** Makes a namespace that the demo may remove again, or takes the one it made before. */
export function makeNamespace(access: Access, name: string): void {
  const labels = { ...restricted, [demoLabel]: 'true' }
  apply(access, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } })
}

function apply(access: Access, object: object): void {
  kubectl(access, ['apply', '--server-side', '-f', '-'], JSON.stringify(object))
}

export interface Installation {
  readonly image: ImageName
  readonly pullSecret?: string | undefined
  readonly storageClass?: string | undefined
}

/** Installs the chart, or upgrades to it, and waits until manager and gateway are ready. */
export function installChart(access: Access, { image, pullSecret, storageClass }: Installation): void {
  const values = {
    image: {
      ...image,
      // A tag that moves is pulled each time; any other says the same for ever.
      pullPolicy: image.tag === 'latest' ? 'Always' : 'IfNotPresent',
      pullSecrets: pullSecret === undefined ? [] : [pullSecret],
    },
    ...(storageClass !== undefined && { gateway: { storage: { className: storageClass } } }),
  }
  const sets = Object.entries(values).flatMap(([name, value]) => ['--set-json', `${name}=${JSON.stringify(value)}`])
  helm(access, ['upgrade', '--install', 'graphwright', 'charts/graphwright', '--namespace', operatorNamespace, ...sets])
  for (const deployment of ['graphwright-manager', 'graphwright-gateway']) waitForRollout(access, deployment)
}

/** Copies a Secret to where the demo's pods are pulled. It goes with the namespaces. @throws {Refusal} */
export function copyPullSecret(access: Access, name: string, cluster: ForeignCluster): void {
  const types = ['kubernetes.io/dockerconfigjson', 'kubernetes.io/dockercfg']
  const from = ['-n', cluster.namespace]
  const text = kubectl(access, ['get', 'secret', name, ...from, '-o', 'json', '--ignore-not-found'])
  const secret = text === '' ? undefined : (JSON.parse(text) as { type: string; data: object })
  if (secret === undefined || !types.includes(secret.type)) {
    const problem = secret === undefined ? 'does not exist' : `is of type ${secret.type}, not ${types[0]}`
    throw new Refusal(`PULL_SECRET: the Secret ${name} in the namespace ${cluster.namespace} ${problem}.`)
  }
  const { type, data } = secret
  for (const namespace of [operatorNamespace, sampleNamespace]) {
    apply(access, { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, type, data })
  }
}

/** Says why, where the deployment does not become ready: what its pods are at and what they wrote. */
function waitForRollout(access: Access, deployment: string): void {
  const place = ['-n', operatorNamespace]
  try {
    kubectl(access, ['rollout', 'status', `deployment/${deployment}`, ...place, '--timeout=180s'])
  } catch (error) {
    const looks = [
      ['get', 'pods', '-o', 'wide'],
      ['get', 'events', '--sort-by=.lastTimestamp'],
      ['logs', `deployment/${deployment}`, '--tail=30'],
    ]
    for (const look of looks) console.error(attempt(() => kubectl(access, [...look, ...place])))
    throw error
  }
}

function attempt(look: () => string): string {
  try {
    return look()
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
