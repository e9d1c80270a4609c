import type { KubeConfig } from '@kubernetes/client-node'

/** No usable kubeconfig. The message names what was looked for. */
export class KubeConfigError extends Error {
  override readonly name = 'KubeConfigError'
}

export interface KubeConfigOptions {
  /** Context to use instead of the file's current one. */
  readonly context?: string | undefined
  /** Path of the only kubeconfig to read. */
  readonly kubeconfig?: string | undefined
}

export function loadKubeConfig(_options: KubeConfigOptions = {}): KubeConfig {
  throw new KubeConfigError('not written yet')
}
