import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { type Cluster, type Context, KubeConfig, type User } from '@kubernetes/client-node'
import { load } from 'js-yaml'
import { isJsonObject } from '../lib/json.ts'

/** No usable kubeconfig. The message names what was looked for. */
export class KubeConfigError extends Error {
  override readonly name = 'KubeConfigError'
}

export interface KubeConfigOptions {
  /** Context to use instead of the file's current one. */
  readonly context?: string | undefined
  /** Path of the only kubeconfig to read. */
  readonly kubeconfig?: string | undefined
  /** Where a pod's service account is mounted, below this folder; default `/`. */
  readonly root?: string
}

const serviceAccountToken = 'var/run/secrets/kubernetes.io/serviceaccount/token'

/**
 * Finds the API server as kubectl does: the given file, else the files of `KUBECONFIG` (the first to name something
 * wins, absent files are skipped), else `~/.kube/config`, else the service account of the pod this runs in.
 * @throws {KubeConfigError} where there is none, it cannot be read, or its context is incomplete
 */
export function loadKubeConfig(options: KubeConfigOptions = {}): KubeConfig {
  const config = find(options)
  if (options.context !== undefined) config.setCurrentContext(options.context)
  checkContext(config)
  return config
}

function find(options: KubeConfigOptions): KubeConfig {
  if (options.kubeconfig !== undefined) return readFiles([options.kubeconfig], `the given kubeconfig`)
  const listed = (process.env.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '')
  if (listed.length > 0) return readFiles(listed, 'KUBECONFIG')

  const home = join(process.env.HOME ?? homedir(), '.kube', 'config')
  if (existsSync(home)) return readFiles([home], '~/.kube/config')

  const root = options.root ?? '/'
  const inCluster = process.env.KUBERNETES_SERVICE_HOST !== undefined && existsSync(join(root, serviceAccountToken))
  if (inCluster) {
    const config = new KubeConfig()
    config.loadFromCluster(root === '/' ? '' : root)
    return config
  }
  throw new KubeConfigError(
    `found no Kubernetes API server to talk to: KUBECONFIG is not set, there is no ${home}, and this is not a pod ` +
      `with a service account. Set KUBECONFIG to a kubeconfig file`,
  )
}

function readFiles(paths: readonly string[], origin: string): KubeConfig {
  const present = paths.filter((path) => existsSync(path))
  if (present.length === 0) throw new KubeConfigError(`${origin} names ${paths.join(', ')}, which does not exist`)
  const [first, ...others] = present.map(readFile)
  if (first === undefined || others.length === 0) return first ?? new KubeConfig()
  const merged = new KubeConfig()
  const all = [first, ...others]
  merged.loadFromOptions({
    clusters: firstOfEachName(all.flatMap((config) => config.getClusters())),
    users: firstOfEachName(all.flatMap((config) => config.getUsers())),
    contexts: firstOfEachName(all.flatMap((config) => config.getContexts())),
    currentContext: all.map((config) => config.getCurrentContext()).find((name) => name !== undefined && name !== ''),
  })
  return merged
}

function firstOfEachName<T extends Cluster | User | Context>(items: readonly T[]): T[] {
  const byName = new Map<string, T>()
  for (const item of items) if (!byName.has(item.name)) byName.set(item.name, item)
  return [...byName.values()]
}

function readFile(path: string): KubeConfig {
  const config = new KubeConfig()
  try {
    config.loadFromFile(path)
    const tokenFiles = tokenFilesOf(path)
    config.loadFromOptions({
      clusters: config.getClusters(),
      contexts: config.getContexts(),
      currentContext: config.getCurrentContext(),
      users: config.getUsers().map((user) => withTokenFile(user, tokenFiles.get(user.name))),
    })
  } catch (cause) {
    throw new KubeConfigError(`cannot read the kubeconfig ${path}: ${firstLine(cause)}`, { cause })
  }
  return config
}

/** `user.tokenFile` of each user: client-node reads everything of a kubeconfig but that. */
function tokenFilesOf(path: string): Map<string, string> {
  const document = load(readFileSync(path, 'utf8'))
  const users = isJsonObject(document) && Array.isArray(document.users) ? document.users : []
  const found = new Map<string, string>()
  for (const entry of users) {
    if (!isJsonObject(entry) || !isJsonObject(entry.user)) continue
    const { tokenFile } = entry.user
    if (typeof entry.name === 'string' && typeof tokenFile === 'string') {
      found.set(entry.name, resolve(dirname(path), tokenFile))
    }
  }
  return found
}

/** The file wins over a token in the kubeconfig, as in client-go, because it is the one that is renewed. */
function withTokenFile(user: User, tokenFile: string | undefined): User {
  if (tokenFile === undefined) return user
  const { token: _token, ...rest } = user
  return { ...rest, authProvider: { name: 'tokenFile', config: { tokenFile } } }
}

function checkContext(config: KubeConfig): void {
  const name = config.getCurrentContext()
  const known = config.getContexts().map((context) => context.name)
  const offer = known.length === 0 ? 'it has none' : `it has: ${known.join(', ')}`
  if (name === undefined || name === '') {
    throw new KubeConfigError(`the kubeconfig has no current context; choose one (${offer})`)
  }
  const context = config.getContextObject(name)
  if (context === null) throw new KubeConfigError(`the kubeconfig has no context ${name}; ${offer}`)
  const cluster = config.getCluster(context.cluster)
  if (cluster === null)
    throw new KubeConfigError(
      `context ${name} names the cluster ${context.cluster}, which the kubeconfig does not have`,
    )
  if (!URL.canParse(cluster.server ?? '')) {
    throw new KubeConfigError(`cluster ${cluster.name} of the kubeconfig has no valid server address`)
  }
}

function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.split('\n', 1)[0] ?? text
}
