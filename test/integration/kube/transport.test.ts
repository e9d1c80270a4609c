import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { KubeClient } from '../../../src/kube/client.ts'
import {
  configMapType,
  coreTypes,
  selfSubjectReviewType,
  serviceAccountType,
  type TokenRequest,
} from '../../../src/kube/core-types.ts'
import { isForbidden, isUnavailable } from '../../../src/kube/error.ts'
import { whoAmI } from '../../../src/kube/identity.ts'
import { Transport } from '../../../src/kube/transport.ts'
import { freshNamespace, testClient, testKubeConfig } from '../../kit/control-plane.ts'
import { FaultProxy } from '../../kit/fault-proxy.ts'

let admin: KubeClient
let namespace: string

beforeAll(async () => {
  admin = testClient()
  namespace = await freshNamespace(admin)
})

afterAll(() => admin.transport.close())

/** The run's kubeconfig with other values for its cluster and user. */
function variant(cluster: object, user?: object): KubeConfig {
  const base = testKubeConfig()
  const config = new KubeConfig()
  config.loadFromOptions({
    clusters: base.getClusters().map((present) => ({ ...present, ...cluster })),
    users: base.getUsers().map((present) => (user === undefined ? present : { name: present.name, ...user })),
    contexts: base.getContexts(),
    currentContext: base.getCurrentContext(),
  })
  return config
}

async function using<T>(config: KubeConfig, act: (client: KubeClient) => Promise<T>): Promise<T> {
  const transport = new Transport(config)
  try {
    return await act(new KubeClient(transport, coreTypes))
  } finally {
    await transport.close()
  }
}

describe('connections', () => {
  test('many requests and watches share a few: it is HTTP/2', async () => {
    const proxy = await FaultProxy.start(admin.transport.server)
    const client = testClient({ server: proxy.url })
    await client.version()
    const stop = new AbortController()
    const watch = { namespace, resourceVersion: '0', timeoutSeconds: 60, signal: stop.signal }
    await Promise.all(Array.from({ length: 20 }, () => client.watch(configMapType, watch)))
    await Promise.all(Array.from({ length: 200 }, () => client.list(configMapType, { namespace })))
    expect(proxy.connections).toBeLessThanOrEqual(4)
    stop.abort()
    await client.transport.close()
    await proxy.close()
  })

  test('a dead connection is found out by the time limit, and the next request has a new one', async () => {
    const proxy = await FaultProxy.start(admin.transport.server)
    const client = testClient({ server: proxy.url, timeoutMillis: 1_000 })
    await client.version()
    proxy.blackHolePresent()
    await expect(client.version()).rejects.toSatisfy(isUnavailable)
    await client.version()
    expect(proxy.connections).toBe(2)
    await client.transport.close()
    await proxy.close()
  })
})

describe('trust', () => {
  test('a server with a certificate of another CA is refused, and the error says so', async () => {
    const {
      caData: _caData,
      caFile: _caFile,
      ...cluster
    } = testKubeConfig().getCurrentCluster() ?? { name: '', server: '' }
    const config = new KubeConfig()
    config.loadFromClusterAndUser({ ...cluster, skipTLSVerify: false }, { name: 'nobody' })
    await expect(using(config, (client) => client.version())).rejects.toThrow('not signed by the CA of the kubeconfig')
  })

  test('tls-server-name is the name that is checked', async () => {
    await using(variant({ tlsServerName: 'kubernetes.default.svc' }), (client) => client.version())
    await expect(using(variant({ tlsServerName: 'elsewhere' }), (client) => client.version())).rejects.toThrow(
      'its certificate is for another name',
    )
  })
})

test('a service account’s token from a file is who we are', async () => {
  const { apiVersion, kind } = serviceAccountType
  await admin.create({ apiVersion, kind, metadata: { name: 'pod', namespace } })
  const { status } = await admin.createSubresource<TokenRequest>(
    { apiVersion, kind, name: 'pod', namespace },
    'token',
    {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { audiences: [] },
    },
  )
  const folder = mkdtempSync(join(tmpdir(), 'token-'))
  const tokenFile = join(folder, 'token')
  writeFileSync(tokenFile, `${status?.token}\n`)
  const config = variant({}, { authProvider: { name: 'tokenFile', config: { tokenFile } } })
  const refused = using(config, (client) => client.list(configMapType, { namespace }))
  await expect(refused).rejects.toThrow(`User "system:serviceaccount:${namespace}:pod" cannot list`)
  await expect(refused).rejects.toSatisfy(isForbidden)
  rmSync(folder, { recursive: true })
})

test('proxy-url: the server is reached through a CONNECT proxy, still by its own certificate', async () => {
  const asked: string[] = []
  const proxy = createServer()
  proxy.on('connect', (request: IncomingMessage, client: Socket) => {
    asked.push(request.url ?? '')
    const [host = '', port] = (request.url ?? '').split(':')
    const server = connect(Number(port), host, () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n')
      server.pipe(client).pipe(server)
    })
    client.on('error', () => server.destroy())
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  await using(variant({ proxyUrl }), async (client) => {
    await client.version()
    await client.list(configMapType, { namespace })
  })
  proxy.close()
  expect(asked).toEqual([new URL(admin.transport.server).host])
})

test('proxy-url: a SOCKS5 proxy', async () => {
  const asked: string[] = []
  const proxy = createTcpServer((client) => {
    client.on('error', () => {})
    client.once('data', () => {
      client.write(Buffer.from([5, 0]))
      client.once('data', (request) => {
        // Version, command, reserved, kind of address (IPv4), address, port: RFC 1928.
        const port = request.readUInt16BE(8)
        asked.push(`${[...request.subarray(4, 8)].join('.')}:${port}`)
        const server = connect(port, '127.0.0.1', () => {
          client.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 0]))
          server.pipe(client).pipe(server)
        })
        server.on('error', () => client.destroy())
      })
    })
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const proxyUrl = `socks5://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  await using(variant({ proxyUrl }), (client) => client.version())
  proxy.close()
  expect(asked[0]).toBe(new URL(admin.transport.server).host)
})

test('a client certificate that is replaced is used within a minute, and open watches live on', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'certificate-'))
  const files = { certFile: join(folder, 'crt'), keyFile: join(folder, 'key') }
  const install = (user?: string) => {
    const { certData = '', keyData = '' } = testKubeConfig(user).getCurrentUser() ?? {}
    writeFileSync(files.certFile, Buffer.from(certData, 'base64'))
    writeFileSync(files.keyFile, Buffer.from(keyData, 'base64'))
  }
  install()
  let now = Date.now()
  const transport = new Transport(variant({}, files), { now: () => now })
  const client = new KubeClient(transport, [...coreTypes, selfSubjectReviewType])
  expect(await whoAmI(client)).toBe('admin')
  const stop = new AbortController()
  const { resourceVersion } = await client.list(configMapType, { namespace })
  const watch = await client.watch(configMapType, {
    namespace,
    resourceVersion,
    timeoutSeconds: 60,
    signal: stop.signal,
  })

  install('bob')
  expect(await whoAmI(client)).toBe('admin')
  now += 60_000
  expect(await whoAmI(client)).toBe('bob')
  const { apiVersion, kind } = configMapType
  await admin.create({ apiVersion, kind, metadata: { name: 'seen-by-the-old-watch', namespace } })
  for await (const chunk of watch) {
    expect(Buffer.from(chunk).toString()).toContain('seen-by-the-old-watch')
    break
  }
  stop.abort()
  await transport.close()
  rmSync(folder, { recursive: true })
})
