import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { operatorNamespace } from '../../hack/operator.ts'
import { installation } from '../../src/api/installation.ts'
import { gatewayAudience } from '../../src/api/run-api.ts'
import { serviceType } from '../../src/kube/core-types.ts'
import { type Doom, ManagerKeeper } from '../kit/manager-process.ts'
import { clusterCommand, kubectl, nodeCluster, observer } from '../kit/node-cluster.ts'

const deployment = 'deployment/graphwright-manager'
const gatewayHost = `${installation.gatewayService}.${operatorNamespace}.svc`
const standIn = 'outside-manager'

/**
 * Managers of the cluster of this run as processes of this machine, each for one namespace: they can be killed at a
 * write of the test's choice, and outlive the node. They act as the manager's ServiceAccount, in the network of the
 * node. Meanwhile those of the Deployment, which serve every namespace, are put away.
 */
export class OutsideManagers {
  readonly #kubeconfig: string
  readonly #token: string
  readonly #hosts: string
  readonly #replicas: string

  private constructor(parts: { kubeconfig: string; token: string; hosts: string; replicas: string }) {
    this.#kubeconfig = parts.kubeconfig
    this.#token = parts.token
    this.#hosts = parts.hosts
    this.#replicas = parts.replicas
  }

  static async start(): Promise<OutsideManagers> {
    const replicas = await operator('get', deployment, '-o', 'jsonpath={.spec.replicas}')
    const [kubeconfig, token, hosts] = await Promise.all([identity(), gatewayToken(), hostsFile()])
    const managers = new OutsideManagers({ kubeconfig, token, hosts, replicas })
    try {
      await operator('scale', deployment, '--replicas=0')
      await operator('wait', 'pod', '-l', 'app.kubernetes.io/component=manager', '--for=delete', '--timeout=90s')
      return managers
    } catch (error) {
      await managers.stop()
      throw error
    }
  }

  /** Keeps a manager for this namespace running. Whoever does so stops it. */
  manage(namespace: string, doomOf?: (life: number) => Doom | undefined): ManagerKeeper {
    const args = [
      `--gateway-url=https://${gatewayHost}:8443`,
      '--runner-image=localhost/graphwright:dev',
      `--namespaces=${namespace}`,
      `--token-file=${this.#token}`,
      '--metrics-port=0',
    ]
    const inNode = ['nsenter', `--net=/run/netns/graphwright-${nodeCluster().name}`, '--']
    // There is no DNS outside of pods: it knows the gateway by a line of a hosts file of its own.
    const withHosts = ['unshare', '--mount', '--', 'sh', '-c', 'mount --bind "$0" /etc/hosts && exec "$@"', this.#hosts]
    const env = { KUBECONFIG: this.#kubeconfig, POD_NAMESPACE: operatorNamespace }
    return new ManagerKeeper({ wrapper: [...inNode, ...withHosts], args, env }, doomOf)
  }

  /** Brings back the managers of the Deployment. */
  async stop(): Promise<void> {
    await operator('delete', 'pod', standIn, '--ignore-not-found', '--force')
    await operator('scale', deployment, `--replicas=${this.#replicas}`)
    await operator('rollout', 'status', deployment, '--timeout=150s')
  }
}

/** kubectl in the operator's namespace. */
export function operator(...args: readonly string[]): Promise<string> {
  return kubectl(['-n', operatorNamespace, ...args])
}

/** Path of a kubeconfig that makes its user the ServiceAccount of the manager. */
async function identity(): Promise<string> {
  const output = join(nodeCluster().tools, 'manager.kubeconfig')
  const user = `system:serviceaccount:${operatorNamespace}:${installation.managerServiceAccount}`
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${operatorNamespace}`]
  await clusterCommand(
    'kubeconfig',
    '--user',
    user,
    ...groups.flatMap((group) => ['--group', group]),
    '--output',
    output,
  )
  return output
}

/** Path of a token as the kubelet projects it for the manager's pod. Here it belongs to a pod that is never placed. */
async function gatewayToken(): Promise<string> {
  await kubectl(['apply', '--server-side', '-f', '-'], { input: JSON.stringify(neverPlaced) })
  const bound = ['--bound-object-kind=Pod', `--bound-object-name=${standIn}`]
  const audience = `--audience=${gatewayAudience}`
  const token = await operator(
    'create',
    'token',
    installation.managerServiceAccount,
    audience,
    '--duration=2h',
    ...bound,
  )
  const path = join(nodeCluster().tools, 'manager.token')
  writeFileSync(path, token, { mode: 0o600 })
  return path
}

const neverPlaced = {
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: standIn, namespace: operatorNamespace } },
  spec: {
    serviceAccountName: installation.managerServiceAccount,
    schedulingGates: [{ name: 'graphwright.dev/never' }],
    securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        ...{ name: 'none', image: 'none' },
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
      },
    ],
  },
}

async function hostsFile(): Promise<string> {
  const place = { name: installation.gatewayService, namespace: operatorNamespace }
  const { clusterIP } = (await observer().get(serviceType, place)).spec
  const path = join(nodeCluster().tools, 'hosts')
  writeFileSync(path, `127.0.0.1 localhost\n${clusterIP} ${gatewayHost}\n`)
  return path
}
