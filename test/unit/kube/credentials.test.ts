import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { loadKubeConfig } from '../../../src/kube/config.ts'
import { Transport } from '../../../src/kube/transport.ts'
import { MisbehavingServer } from '../../kit/misbehaving-server.ts'
import { configFor } from './support.ts'

let folder: string
let server: MisbehavingServer
let now: number

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'credentials-'))
  now = 1_000_000
  server = await MisbehavingServer.start((_request, reply) => reply.json(200, {}))
})

afterEach(async () => {
  await server.stop()
  rmSync(folder, { recursive: true })
})

const authorizations = () => server.requests.map(({ headers }) => headers.authorization)

function accept(token: string): void {
  server.answer = (request, reply) =>
    request.headers.authorization === `Bearer ${token}` ? reply.json(200, {}) : reply.status(401, 'Unauthorized')
}

describe('a token file', () => {
  let transport: Transport
  let file: string

  beforeEach(() => {
    file = join(folder, 'token')
    writeFileSync(file, 'first\n')
    const kubeconfig = join(folder, 'config')
    writeFileSync(
      kubeconfig,
      JSON.stringify({
        clusters: [{ name: 'c', cluster: { server: server.url } }],
        users: [{ name: 'u', user: { token: 'stale', tokenFile: 'token' } }],
        contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'x',
      }),
    )
    transport = new Transport(loadKubeConfig({ kubeconfig }), { now: () => now })
  })

  afterEach(() => transport.close())

  test('beside the kubeconfig is read, without its line feed, and wins over a token', async () => {
    await transport.request({ path: '/x' })
    expect(authorizations()).toEqual(['Bearer first'])
  })

  test('is read again every minute', async () => {
    await transport.request({ path: '/x' })
    writeFileSync(file, 'second\n')
    now += 59_000
    await transport.request({ path: '/x' })
    now += 1_000
    await transport.request({ path: '/x' })
    expect(authorizations()).toEqual(['Bearer first', 'Bearer first', 'Bearer second'])
  })

  test('is read again at once when the server answers 401, and the request is repeated', async () => {
    await transport.request({ path: '/x' })
    writeFileSync(file, 'second\n')
    accept('second')
    await transport.request({ method: 'POST', path: '/x', body: {} })
    expect(authorizations()).toEqual(['Bearer first', 'Bearer first', 'Bearer second'])
  })

  test('a watch is opened with the new token too', async () => {
    await transport.request({ path: '/x' })
    writeFileSync(file, 'second\n')
    accept('second')
    await transport.stream({ path: '/x' })
    expect(authorizations().at(-1)).toBe('Bearer second')
  })

  test('401 to the new token as well ends the request after two tries', async () => {
    accept('nothing')
    await expect(transport.request({ path: '/x' })).rejects.toThrow(/does not accept these credentials/)
    expect(server.requests).toHaveLength(2)
  })

  test('while it is away, the token read before is used', async () => {
    await transport.request({ path: '/x' })
    rmSync(file)
    now += 120_000
    await transport.request({ path: '/x' })
    expect(authorizations()).toEqual(['Bearer first', 'Bearer first'])
  })

  test('many requests refused together read it once', async () => {
    await transport.request({ path: '/x' })
    writeFileSync(file, 'second\n')
    accept('second')
    await Promise.all(Array.from({ length: 10 }, () => transport.request({ path: '/x' })))
    expect(server.requests.length).toBeLessThanOrEqual(21)
  })
})

describe('other credentials', () => {
  async function sentBy(user: object): Promise<string | undefined> {
    const transport = new Transport(configFor(server.url, user), { now: () => now })
    await transport.request({ path: '/x' })
    await transport.close()
    return authorizations().at(-1)
  }

  test('a token', async () => {
    expect(await sentBy({ token: 'abc' })).toBe('Bearer abc')
  })

  test('user name and password', async () => {
    expect(await sentBy({ username: 'ada', password: 'pass' })).toBe(`Basic ${btoa('ada:pass')}`)
  })

  test('none', async () => {
    expect(await sentBy({})).toBeUndefined()
  })

  test('an exec plugin runs once, and again when the server refuses its token', async () => {
    const plugin = join(folder, 'plugin.sh')
    writeFileSync(
      plugin,
      `test -n "$KUBERNETES_EXEC_INFO" || exit 1
echo run >> ${folder}/runs
n=$(wc -l < ${folder}/runs | tr -d ' ')
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"t'$n'"}}'
`,
    )
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'sh', args: [plugin] }
    const transport = new Transport(configFor(server.url, { exec }), { now: () => now })
    await transport.request({ path: '/x' })
    await transport.request({ path: '/x' })
    accept('t2')
    await transport.request({ path: '/x' })
    await transport.close()
    expect(authorizations()).toEqual(['Bearer t1', 'Bearer t1', 'Bearer t1', 'Bearer t2'])
  })

  test('an exec plugin that fails says so', async () => {
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: 'sh',
      args: ['-c', 'echo log in first >&2; exit 3'],
    }
    const transport = new Transport(configFor(server.url, { exec }))
    await expect(transport.request({ path: '/x' })).rejects.toThrow(
      'cannot get the credentials of user tester of the kubeconfig: log in first',
    )
  })
})

describe('proxy-url', () => {
  test('is where requests go, for a server that only the proxy knows', async () => {
    const transport = new Transport(configFor('http://api.invalid:6443', {}, { proxyUrl: server.url }))
    await transport.request({ path: '/version' })
    await transport.close()
    expect(server.requests[0]?.target).toBe('http://api.invalid:6443/version')
  })

  test('of an unknown kind is refused by name', async () => {
    const transport = new Transport(configFor('http://api.invalid:6443', {}, { proxyUrl: 'ftp://proxy' }))
    await expect(transport.request({ path: '/version' })).rejects.toThrow(/proxy-url must begin with http/)
  })
})
