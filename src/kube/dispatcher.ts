import { Agent, type Dispatcher, ProxyAgent, Socks5ProxyAgent } from 'undici'
import { KubeConfigError } from './config.ts'
import type { TlsMaterial } from './credentials.ts'

const connectTimeoutMillis = 10_000

/** Longer than undici's four seconds, because a controller is quiet for minutes; shorter than what servers allow. */
const keepAliveMillis = 55_000

/**
 * The connections to one API server: HTTP/2 where it is spoken, kept open, through the kubeconfig's `proxy-url` where
 * it has one (`http`, `https`, `socks5`). Pings end an HTTP/2 connection whose other side vanished without a word.
 */
export function buildDispatcher(tls: TlsMaterial, proxyUrl: string | undefined, pingMillis: number): Dispatcher {
  const options = {
    allowH2: true,
    keepAliveTimeout: keepAliveMillis,
    h2Options: { pingInterval: pingMillis },
  }
  const connect = {
    ...tls,
    preferH2: true,
    timeout: connectTimeoutMillis,
    keepAlive: true,
    keepAliveInitialDelay: 30_000,
  }
  if (proxyUrl === undefined || proxyUrl === '') return new Agent({ ...options, connect })

  const protocol = URL.canParse(proxyUrl) ? new URL(proxyUrl).protocol : ''
  if (protocol === 'http:' || protocol === 'https:') {
    return new ProxyAgent({ ...options, uri: proxyUrl, requestTls: connect, connectTimeout: connectTimeoutMillis })
  }
  if (protocol === 'socks5:' || protocol === 'socks:') {
    return new Socks5ProxyAgent(proxyUrl, { ...options, requestTls: connect })
  }
  throw new KubeConfigError(`the kubeconfig's proxy-url must begin with http://, https:// or socks5://`)
}
