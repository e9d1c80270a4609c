import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parseTargets, requireIsolation, type Target } from '../../../src/runner/isolation.ts'

const timing = { limitMillis: 150, connectMillis: 100, pauseMillis: 10 }

async function listening(): Promise<{ server: Server; target: Target }> {
  const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { server, target: { host: '127.0.0.1', port: (server.address() as AddressInfo).port } }
}

async function closedPort(): Promise<Target> {
  const { server, target } = await listening()
  server.close()
  await once(server, 'close')
  return target
}

describe('isolation', () => {
  it('is proven when a connection is refused', async () => {
    await requireIsolation([await closedPort()], timing)
    await requireIsolation([], timing)
  })

  it('is proven when a connection gets no answer', async () => {
    // TEST-NET-1 (RFC 5737): nobody answers there.
    const unanswered = { host: '192.0.2.1', port: 443 }
    const started = performance.now()
    await requireIsolation([unanswered], timing)
    expect(performance.now() - started).toBeLessThan(1000)
  })

  it('is proven once the network has learned about the pod', async () => {
    const { server, target } = await listening()
    setTimeout(() => server.close(), 40)
    await requireIsolation([target], { ...timing, limitMillis: 5000 })
  })

  it('fails when one target of several still answers after the time allowed', async () => {
    const { target } = await listening()
    const error = await requireIsolation([await closedPort(), target], timing).catch((e: unknown) => e)
    expect(error).toMatchObject({ exit: 'NetworkNotIsolated', exitCode: 86 })
    expect((error as Error).message).toContain(`127.0.0.1:${target.port}`)
  })

  it('reads its targets, and takes none it cannot read for checked', () => {
    expect(parseTargets('')).toEqual([])
    expect(parseTargets('10.96.0.1:443, [fd00::1]:6443')).toEqual([
      { host: '10.96.0.1', port: 443 },
      { host: 'fd00::1', port: 6443 },
    ])
    for (const wrong of ['10.96.0.1', '10.96.0.1:0', '10.96.0.1:99999', 'a b:1', 'fd00::1:443']) {
      expect(() => parseTargets(wrong)).toThrow('no host:port')
    }
  })
})
