import { spawnSync } from 'node:child_process'
import { Refusal } from './target.ts'

/** Name of the demo's cluster in kind. */
export const kindCluster = 'graphwright-demo'
/** Context that kind gives it in the kubeconfig. */
export const kindContext = `kind-${kindCluster}`

type Arguments = readonly string[]

/**
 * What is asked of kind to have the cluster with these images in it: the cluster is made unless it is there.
 * @param clusters names of the clusters that there are
 */
export function kindPlan(clusters: readonly string[], archives: readonly string[]): Arguments[] {
  const create = ['create', 'cluster', '--name', kindCluster, '--wait', '180s']
  const load = archives.map((archive) => ['load', 'image-archive', archive, '--name', kindCluster])
  return clusters.includes(kindCluster) ? load : [create, ...load]
}

/** What is asked of kind to have the cluster no more. */
export function kindRemoval(clusters: readonly string[]): Arguments[] {
  return clusters.includes(kindCluster) ? [['delete', 'cluster', '--name', kindCluster]] : []
}

/** Why there can be no cluster of kind on this machine; undefined where there can. */
export function kindObstacle(): string | undefined {
  const docker = spawnSync('docker', ['info', '--format', '{{.ServerVersion}}'], { encoding: 'utf8' })
  if (docker.error !== undefined) return 'kind needs Docker, which is not installed'
  if (docker.status !== 0) return `kind needs Docker, which does not answer: ${lastLine(docker.stderr)}`
  if (spawnSync('kind', ['version']).error !== undefined) return 'kind is not installed'
  return undefined
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? ''
}

/** Names of the clusters that kind has made. */
export function kindClusters(): string[] {
  const { stdout, stderr, status } = spawnSync('kind', ['get', 'clusters'], { encoding: 'utf8' })
  if (status !== 0) throw new Refusal(`kind does not say which clusters it has: ${lastLine(stderr)}`)
  return stdout.split('\n').filter((name) => name !== '')
}

/** Runs kind, output and all. */
export function runKind(plan: readonly Arguments[]): void {
  for (const args of plan) {
    console.log(`$ kind ${args.join(' ')}`)
    const { status } = spawnSync('kind', [...args], { stdio: 'inherit' })
    if (status !== 0) throw new Refusal(`kind ${args.join(' ')} failed; see above`)
  }
}
