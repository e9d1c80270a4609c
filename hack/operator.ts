import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * A local cluster with the operator of this checkout in it: for the demo, the end-to-end tests and the benchmarks. Every
 * step may be repeated; what is there already is left alone.
 */

/** Root of the checkout. */
export const root = join(import.meta.dirname, '..')
const clusterTool = join(root, 'hack/cluster/cluster')

/** Namespace that the operator is installed in. */
export const operatorNamespace = 'graphwright-system'

/** Runs a step that takes a while. What it prints is seen only if it fails, unless it is progress on stderr. */
function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): void {
  const { status, stdout, error } = spawnSync(command, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] })
  if (error !== undefined) throw error
  if (status === 0) return
  process.stderr.write(stdout)
  throw new Error(`${[command, ...args].join(' ')} failed`)
}

/** Brings the cluster up, or back up, and returns the path of its administrator's kubeconfig. */
export function ensureCluster(name: string): string {
  const args = ['up', '--name', name]
  const { status, stdout } = spawnSync(clusterTool, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
  const kubeconfig = stdout.trim().split('\n').at(-1)
  if (status !== 0 || kubeconfig === undefined) throw new Error('the local cluster did not come up; see above')
  return kubeconfig
}

/** Ends the cluster and everything in it. */
export function removeCluster(name: string): void {
  run(clusterTool, ['down', '--name', name])
}

/** Bundles the programs into dist/, as they are in the image. */
export function buildBundles(): void {
  run(process.execPath, ['build.ts'])
}

/** Builds the images of the operator and of the sample agents. */
export function buildImages(): void {
  buildBundles()
  run('hack/image.sh', [])
}

/** Builds the images of the operator and of the sample agents and loads them into the cluster. */
export function loadImages(name: string): void {
  buildImages()
  for (const image of images) loadImage(name, image)
}

/** Loads an archive of an image into the cluster; nothing is done where it is there. */
export function loadImage(name: string, archive: string): void {
  run(clusterTool, ['image', 'load', '--name', name, archive])
}

/** What {@link buildImages} makes. */
export const images = ['.cache/images/graphwright.tar', '.cache/images/samples.tar'] as const

/** Installs the chart, or upgrades to it, and waits until manager and gateway are ready. */
export function installOperator(name: string): void {
  const build = createHash('sha256')
    .update(readFileSync(join(root, images[0])))
    .digest('hex')
    .slice(0, 16)
  const values = {
    'image.tag': 'dev',
    'gateway.storage.className': 'local',
    // The tag stays the same; another build of it must still be rolled out.
    'manager.podAnnotations.graphwright\\.dev/build': build,
    'gateway.podAnnotations.graphwright\\.dev/build': build,
  }
  const sets = Object.entries(values).flatMap(([key, value]) => ['--set-string', `${key}=${value}`])
  const release = ['upgrade', '--install', 'graphwright', 'charts/graphwright']
  const place = ['--namespace', operatorNamespace, '--create-namespace']
  run(clusterTool, ['helm', ...release, ...place, ...sets], { ...process.env, GRAPHWRIGHT_CLUSTER: name })
  for (const deployment of ['graphwright-manager', 'graphwright-gateway']) waitForRollout(name, deployment)
}

/** Says why, where the deployment does not become ready: what its pods are at and what they wrote. */
function waitForRollout(name: string, deployment: string): void {
  const env = { ...process.env, GRAPHWRIGHT_CLUSTER: name }
  const place = ['-n', operatorNamespace]
  try {
    run(clusterTool, ['kubectl', 'rollout', 'status', `deployment/${deployment}`, ...place, '--timeout=180s'], env)
  } catch (error) {
    const looks = [
      ['get', 'pods'],
      ['get', 'events'],
      ['logs', `deployment/${deployment}`, '--tail=30'],
    ]
    for (const look of looks) {
      spawnSync(clusterTool, ['kubectl', ...look, ...place], { env, stdio: ['ignore', process.stderr.fd, 'inherit'] })
    }
    throw error
  }
}

/** Output of kubectl against the cluster. Throws with what kubectl says. */
export function kubectl(name: string, args: readonly string[], input?: string): string {
  const env = { ...process.env, GRAPHWRIGHT_CLUSTER: name }
  return execFileSync(clusterTool, ['kubectl', ...args], {
    cwd: root,
    env,
    encoding: 'utf8',
    ...(input !== undefined && { input }),
  })
}

/** Folder with the cluster's kubectl and helm. */
export function toolFolder(): string {
  return execFileSync(clusterTool, ['path'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()
}
