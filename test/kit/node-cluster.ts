import { execFile } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { inject, type TestContext } from 'vitest'
import { kinds } from '../../src/api/kinds.ts'
import type { KubeClient } from '../../src/kube/client.ts'
import { loadKubeConfig } from '../../src/kube/config.ts'
import type { ObjectMeta } from '../../src/lib/object.ts'
import type { NodeCluster } from './cluster-context.ts'
import { clientOf } from './control-plane.ts'

const clusterTool = new URL('../../hack/cluster/cluster', import.meta.url).pathname

/** For `beforeEach`: skips a test, with the reason, where this machine has no cluster with a node. */
export function requireNode(context: TestContext): void {
  const found = inject('nodeCluster')
  if ('unavailable' in found) context.skip(found.unavailable)
}

/** The cluster of this run. */
export function nodeCluster(): NodeCluster {
  const found = inject('nodeCluster')
  if ('unavailable' in found) throw new Error(found.unavailable)
  return found
}

/** Folder in which the cluster keeps its state. */
function clusterFolder(): string {
  return dirname(nodeCluster().kubeconfig)
}

/** Process id of a component of the cluster: `kubelet`. */
export function componentPid(component: string): number {
  // The file names the process and when it started.
  const [pid = ''] = readFileSync(join(clusterFolder(), `run/${component}.pid`), 'utf8').split(' ')
  const found = Number.parseInt(pid, 10)
  if (!(found > 1)) throw new Error(`${component} does not run`)
  return found
}

/** Removes the log of a pod's container from the node, as the kubelet does when the pod goes or space is short. */
export function removeLog({ name, namespace = '', uid = '' }: ObjectMeta, container: string): void {
  rmSync(join(clusterFolder(), 'pod-logs', `${namespace}_${name}_${uid}`, container), { recursive: true })
}

let client: KubeClient | undefined

/** A client of the administrator, for looking at the world. It is shared, and goes with the process of the test file. */
export function observer(): KubeClient {
  client ??= clientOf(loadKubeConfig({ kubeconfig: nodeCluster().kubeconfig }), { types: kinds })
  return client
}

/** What a program said and how it ended. */
export interface Answer {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface UserOptions {
  /** Kubeconfig of somebody other than the administrator. */
  readonly kubeconfig?: string
  /** Standard input. */
  readonly input?: string
}

/** Runs a program as a user would who has only the tools of the cluster on PATH. */
export function runTool(program: string, args: readonly string[], options: UserOptions = {}): Promise<Answer> {
  const { kubeconfig, tools } = nodeCluster()
  const env = { PATH: tools, HOME: tools, LANG: 'C.UTF-8', KUBECONFIG: options.kubeconfig ?? kubeconfig }
  return run(join(tools, program), args, env, options.input)
}

/** Runs a command of the cluster's tool against the cluster of this run: `firewall stop`. */
export async function clusterCommand(...args: readonly string[]): Promise<string> {
  const answer = await run(clusterTool, [...args, '--name', nodeCluster().name], process.env)
  if (answer.code !== 0) throw new Error(`cluster ${args.join(' ')}: ${answer.stderr}`)
  return answer.stdout.trim()
}

function run(file: string, args: readonly string[], env: NodeJS.ProcessEnv, input?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { env, maxBuffer: 64 * 1024 * 1024, timeout: 150_000 }
    const child = execFile(file, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code
      if (typeof code === 'number') resolve({ code, stdout, stderr })
      else reject(new Error(`${file} ${args.join(' ')} did not end by itself: ${error?.message}\n${stderr}`))
    })
    child.stdin?.on('error', () => {})
    child.stdin?.end(input ?? '')
  })
}

/** Output of kubectl, which must succeed. */
export async function kubectl(args: readonly string[], options: UserOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await runTool('kubectl', args, options)
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${code}: ${stderr}`)
  return stdout
}
