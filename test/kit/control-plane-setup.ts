import type { TestProject } from 'vitest/node'
import { startControlPlane } from './cluster-tool.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of the administrator's kubeconfig. */
    kubeconfig: string
    /** Paths of the kubeconfigs of further users, by name. */
    userKubeconfigs: Record<string, string>
  }
}

/** Users without any rights of their own; a test binds them to the roles it needs. */
const users = { alice: ['developers'], bob: ['developers'], mallory: [] }

/**
 * One control plane for the whole run. `GRAPHWRIGHT_TEST_KUBECONFIG` names a cluster to use instead; tests then find
 * no further users.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.GRAPHWRIGHT_TEST_KUBECONFIG
  if (given !== undefined && given !== '') {
    project.provide('kubeconfig', given)
    project.provide('userKubeconfigs', {})
    return async () => {}
  }
  const controlPlane = await startControlPlane({ users })
  project.provide('kubeconfig', controlPlane.kubeconfig)
  project.provide('userKubeconfigs', controlPlane.users)
  return () => controlPlane.stop()
}
