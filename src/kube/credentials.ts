import { createHash } from 'node:crypto'
import type { RequestOptions } from 'node:https'
import { type Cluster, KubeConfig, type User } from '@kubernetes/client-node'
import { KubeConfigError } from './config.ts'

/** TLS options of a connection to the API server. */
export interface TlsMaterial {
  readonly ca?: Buffer | string
  readonly cert?: Buffer | string
  readonly key?: Buffer | string
  readonly servername?: string
  readonly rejectUnauthorized?: boolean
}

/** What proves to the API server who we are, at one moment. */
export interface Credential {
  /** Sent with every request. */
  readonly headers: Readonly<Record<string, string>>
  readonly tls: TlsMaterial
  /** Changes when `tls` does. */
  readonly tlsFingerprint: string
}

/** Tokens of a mounted service account are replaced under us; this is how often client-go looks. */
const maxAgeMillis = 60_000

/**
 * The credentials of a kubeconfig's current context: certificates, a token, a token file, an exec plugin or a
 * provider that client-node knows. Read again every minute, and at once when the server refuses them.
 */
export class Credentials {
  readonly #original: KubeConfig
  readonly #now: () => number
  #config: KubeConfig
  #last: { credential: Credential; at: number } | undefined
  #loading: Promise<Credential> | undefined

  constructor(config: KubeConfig, now: () => number = Date.now) {
    this.#original = config
    this.#config = freshCopy(config)
    this.#now = now
  }

  /** The present credential. While a renewal fails, the previous one: a token file may be between two versions. */
  async current(): Promise<Credential> {
    const last = this.#last
    if (last !== undefined && this.#now() - last.at < maxAgeMillis) return last.credential
    try {
      return await this.#load()
    } catch (error) {
      if (last === undefined) throw error
      return last.credential
    }
  }

  /** Called when the server answered 401 to `refused`: reads everything anew, past every cache. */
  async renew(refused: Credential): Promise<Credential> {
    if (this.#last !== undefined && this.#last.credential !== refused) return this.#last.credential
    if (this.#loading === undefined) this.#config = freshCopy(this.#original)
    return this.#load()
  }

  #load(): Promise<Credential> {
    this.#loading ??= this.#read().finally(() => {
      this.#loading = undefined
    })
    return this.#loading
  }

  async #read(): Promise<Credential> {
    const options: RequestOptions = {}
    // client-node keeps what it read for a minute of its own; an exec plugin's answer it keeps until that expires.
    if (hasTokenFile(this.#original)) this.#config = freshCopy(this.#original)
    try {
      await this.#config.applyToHTTPSOptions(options)
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message.trim().split('\n', 1)[0] : String(cause)
      const user = this.#config.getCurrentUser()?.name ?? ''
      throw new KubeConfigError(`cannot get the credentials of user ${user} of the kubeconfig: ${reason}`, { cause })
    }
    const credential = toCredential(options)
    this.#last = { credential, at: this.#now() }
    return credential
  }
}

/**
 * A copy with empty caches. The proxy is left out, because it is the transport's to honour, and so is the refusal of
 * `http:` servers, which is how `kubectl proxy` and tests are reached.
 */
function freshCopy(config: KubeConfig): KubeConfig {
  const copy = new KubeConfig()
  copy.loadFromOptions({
    clusters: config.getClusters().map(withoutProxy),
    users: config.getUsers().map(withExecInfo),
    contexts: config.getContexts(),
    currentContext: config.getCurrentContext(),
  })
  return copy
}

function withoutProxy(cluster: Cluster): Cluster {
  const { proxyUrl: _proxyUrl, ...rest } = cluster
  return rest.server?.startsWith('http:') ? { ...rest, skipTLSVerify: true } : rest
}

function hasTokenFile(config: KubeConfig): boolean {
  return config.getCurrentUser()?.authProvider?.config?.tokenFile !== undefined
}

/** Exec plugins read the version they shall answer in from this variable, and some refuse to start without it. */
function withExecInfo(user: User): User {
  if (user.exec === undefined || user.exec === null) return user
  const info = { apiVersion: user.exec.apiVersion, kind: 'ExecCredential', spec: { interactive: false } }
  const variable = { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(info) }
  return { ...user, exec: { ...user.exec, env: [...(user.exec.env ?? []), variable] } }
}

function toCredential(options: RequestOptions): Credential {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    if (value !== undefined) headers[name] = String(value).trim()
  }
  if (options.auth) headers.Authorization = `Basic ${Buffer.from(options.auth).toString('base64')}`
  const tls: TlsMaterial = {
    ...(options.ca ? { ca: options.ca as Buffer } : {}),
    ...(options.cert ? { cert: options.cert as Buffer } : {}),
    ...(options.key ? { key: options.key as Buffer } : {}),
    ...(options.servername ? { servername: options.servername } : {}),
    ...(options.rejectUnauthorized === undefined ? {} : { rejectUnauthorized: options.rejectUnauthorized }),
  }
  return { headers, tls, tlsFingerprint: fingerprint(tls) }
}

function fingerprint(tls: TlsMaterial): string {
  const hash = createHash('sha256')
  for (const part of [tls.ca, tls.cert, tls.key, tls.servername, String(tls.rejectUnauthorized)]) {
    hash.update(part ?? '').update('\0')
  }
  return hash.digest('hex')
}
