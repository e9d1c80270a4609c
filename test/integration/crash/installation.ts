import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installation } from '../../../src/api/installation.ts'
import { ContentFiles } from '../../../src/gateway/contents.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import { type Secret, secretType, serviceType } from '../../../src/kube/core-types.ts'
import { issueServing, makeCa } from '../../../src/runtime/x509.ts'
import { freshNamespace } from '../../kit/control-plane.ts'
import { installCrds } from '../../kit/crds.ts'
import { GatewayProcess } from '../../kit/gateway-process.ts'
import { type Doom, ManagerKeeper, type ManagerSettings } from '../../kit/manager-process.ts'
import type { RunApi } from '../../kit/pod-runner.ts'
import { callGateway, Workspace } from '../gateway/support.ts'

export interface InstallationOptions {
  readonly client: KubeClient
  readonly kubeconfig: string
}

/**
 * The operator as its binaries run it, in a control plane without nodes: a namespace with what the chart makes, a
 * gateway, and managers for one namespace each. The certificate is kept by somebody else, as cert-manager would,
 * because there is no DNS here: the manager reaches the gateway as localhost.
 */
export class Installation {
  readonly client: KubeClient
  readonly namespace: string
  readonly gateway: GatewayProcess
  readonly #kubeconfig: string
  readonly #folder: string
  readonly #caPem: string
  #managers = 0

  private constructor(
    { client, kubeconfig }: InstallationOptions,
    parts: { namespace: string; gateway: GatewayProcess; folder: string; caPem: string },
  ) {
    this.client = client
    this.namespace = parts.namespace
    this.gateway = parts.gateway
    this.#kubeconfig = kubeconfig
    this.#folder = parts.folder
    this.#caPem = parts.caPem
  }

  static async start(options: InstallationOptions): Promise<Installation> {
    const { client, kubeconfig } = options
    await installCrds(client)
    const namespace = await freshNamespace(client)
    const folder = mkdtempSync(join(tmpdir(), 'graphwright-crash-'))
    const caPem = await keepCertificate(client, namespace)
    await client.create({
      apiVersion: serviceType.apiVersion,
      kind: serviceType.kind,
      metadata: { name: installation.gatewayService, namespace },
      spec: { ports: [{ port: 8443 }] },
    } as never)
    writeFileSync(join(folder, 'token'), await managerToken(client, namespace))
    const gateway = await GatewayProcess.start({ kubeconfig, namespace, dataDir: join(folder, 'contents') })
    return new Installation(options, { namespace, gateway, folder, caPem })
  }

  async stop(): Promise<void> {
    await this.gateway.kill()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** Keeps a manager for this namespace running. Each is given another image, as two releases would be. */
  manage(namespace: string, doomOf?: (life: number) => Doom | undefined): ManagerKeeper {
    const { args, env } = this.settings(namespace)
    const image = `--runner-image=registry.example/graphwright:${++this.#managers}`
    return new ManagerKeeper(
      { args: [...args.filter((arg) => !arg.startsWith('--runner-image=')), image], env },
      doomOf,
    )
  }

  /** How a manager for this namespace is started. */
  settings(namespace: string): ManagerSettings {
    const args = [
      `--gateway-url=https://localhost:${this.gateway.port}`,
      '--runner-image=registry.example/graphwright:1',
      `--namespaces=${namespace}`,
      `--token-file=${join(this.#folder, 'token')}`,
      '--metrics-port=0',
      '--log-level=info',
    ]
    const env = { KUBECONFIG: this.#kubeconfig, POD_NAMESPACE: this.namespace }
    return { args, env }
  }

  /** The gateway as pods reach it. */
  get api(): RunApi {
    const target = { port: this.gateway.port, namespace: this.namespace, caPem: this.#caPem }
    return {
      self: (token) => callGateway(target, '/runs/v1/self', { token }),
      report: (token, body) => callGateway(target, '/runs/v1/self/result', { method: 'POST', token, body }),
    }
  }

  /** What the gateway's volume holds under this digest. */
  async content(digest: string): Promise<string> {
    const files = await ContentFiles.open(join(this.#folder, 'contents'))
    return Buffer.from(await files.get(digest)).toString()
  }
}

/** The gateway's certificate as somebody else keeps it, for localhost too. Returns the CA. */
export async function keepCertificate(client: KubeClient, namespace: string): Promise<string> {
  const now = new Date()
  const ca = await makeCa(now)
  const name = `${installation.gatewayService}.${namespace}.svc`
  const serving = await issueServing(ca, { dns: ['localhost', name], ip: ['127.0.0.1'] }, now)
  const texts = { 'tls.crt': serving.cert, 'tls.key': serving.key, 'ca.crt': ca.cert }
  const data = Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')])
  await client.create<Secret>({
    apiVersion: secretType.apiVersion,
    kind: secretType.kind,
    metadata: { name: installation.gatewayTlsSecret, namespace },
    type: 'kubernetes.io/tls',
    data: Object.fromEntries(data),
  })
  return ca.cert
}

/** A token as the kubelet projects it for the manager's pod, which here no node runs. */
async function managerToken(client: KubeClient, namespace: string): Promise<string> {
  const workspace = new Workspace(client, namespace)
  const serviceAccount = installation.managerServiceAccount
  await workspace.serviceAccount(serviceAccount)
  return workspace.token(await workspace.pod({ serviceAccount }))
}
