/** A cluster with a real node and the operator in it. */
export interface NodeCluster {
  readonly name: string
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string
  /** Folder with `kubectl`, `helm`, `node`, `graphwright` and `kubectl-graphwright`: the PATH of a user. */
  readonly tools: string
}

declare module 'vitest' {
  interface ProvidedContext {
    /** The cluster of this run, or why this machine cannot have one. */
    nodeCluster: NodeCluster | { readonly unavailable: string }
  }
}

/** Label of the namespaces of end-to-end tests, by which the next run on a kept cluster removes them. */
export const workspaceLabels = { 'graphwright.dev/test': 'e2e' } as const
