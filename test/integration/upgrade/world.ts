import { kinds } from '../../../src/api/kinds.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import { loadKubeConfig } from '../../../src/kube/config.ts'
import { type ControlPlane, startControlPlane } from '../../kit/cluster-tool.ts'
import { clientOf } from '../../kit/control-plane.ts'
import { installCrds } from '../../kit/crds.ts'
import type { ManagerSettings } from '../../kit/manager-process.ts'
import { type Release, thisRelease, unpackPreviousRelease } from '../../kit/previous-release.ts'
import { Installation } from '../crash/installation.ts'

/** A control plane of its own, because the definitions of the kinds change in it, with both releases at hand. */
export class UpgradeWorld {
  readonly client: KubeClient
  readonly operator: Installation
  readonly previous: Release
  readonly current = thisRelease
  readonly #plane: ControlPlane
  readonly #remove: () => void

  private constructor(plane: ControlPlane, client: KubeClient, operator: Installation) {
    this.#plane = plane
    this.client = client
    this.operator = operator
    const { release, remove } = unpackPreviousRelease()
    this.previous = release
    this.#remove = remove
  }

  static async start(): Promise<UpgradeWorld> {
    const plane = await startControlPlane()
    const client = clientOf(loadKubeConfig({ kubeconfig: plane.kubeconfig }), { types: kinds })
    const operator = await Installation.start({ client, kubeconfig: plane.kubeconfig })
    return new UpgradeWorld(plane, client, operator)
  }

  async stop(): Promise<void> {
    await this.operator.stop()
    await this.client.transport.close()
    await this.#plane.stop()
    this.#remove()
  }

  /** The definitions of the kinds come first. */
  async define({ crds }: Release): Promise<void> {
    await installCrds(this.client, crds)
  }

  /** The gateway is replaced beside the managers. */
  async serve({ gateway }: Release): Promise<void> {
    if (this.operator.gateway.entry === gateway) return
    await this.operator.gateway.kill()
    this.operator.gateway.entry = gateway
    await this.operator.gateway.start()
  }

  /** A manager of a release. Each release has an image of its own, which is in the Jobs that it makes. */
  manager({ manager }: Release, namespace: string): ManagerSettings {
    const { args, env } = this.operator.settings(namespace)
    const image = `--runner-image=registry.example/graphwright:${manager === this.current.manager ? 'now' : 'before'}`
    return { args: [...args.filter((arg) => !arg.startsWith('--runner-image')), image], env, entry: manager }
  }
}
