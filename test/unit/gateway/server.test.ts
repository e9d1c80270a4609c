import { once } from 'node:events'
import { connect } from 'node:tls'
import { describe, expect, it } from 'vitest'
import { GatewayServer } from '../../../src/gateway/server.ts'
import { localCertificates } from '../../kit/certificates.ts'

async function servedSerial(port: number, ca: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', ca, servername: 'localhost' })
  await once(socket, 'secureConnect')
  const { serialNumber } = socket.getPeerCertificate()
  socket.destroy()
  return serialNumber
}

describe('gateway server', () => {
  it('serves a new certificate without a restart', async () => {
    const before = await localCertificates()
    const after = await localCertificates()
    const server = await GatewayServer.start({ fetch: () => new Response(), certificate: before.serving })
    const first = await servedSerial(server.port, before.ca.cert)
    server.replaceCertificate(after.serving)
    const second = await servedSerial(server.port, after.ca.cert)
    expect(second).not.toBe(first)
    await expect(servedSerial(server.port, before.ca.cert)).rejects.toThrow()
    await server.stop(0)
  })

  it('lets a request under way finish, and takes no new one', async () => {
    const { ca, serving } = await localCertificates()
    const arrived = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<Response>()
    const fetch = () => {
      arrived.resolve()
      return answer.promise
    }
    const server = await GatewayServer.start({ fetch, certificate: serving })
    const { port } = server
    const socket = connect({ port, host: '127.0.0.1', ca: ca.cert, servername: 'localhost' })
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await arrived.promise
    const stopped = server.stop(5000)
    await expect(servedSerial(port, ca.cert)).rejects.toThrow()
    answer.resolve(new Response('finished'))
    const chunks: Buffer[] = []
    for await (const chunk of socket) chunks.push(chunk)
    expect(Buffer.concat(chunks).toString()).toMatch(/finished$/)
    await stopped
  })

  it('cuts off a request that does not finish', async () => {
    const { ca, serving } = await localCertificates()
    const arrived = Promise.withResolvers<void>()
    const fetch = () => {
      arrived.resolve()
      return new Promise<Response>(() => {})
    }
    const server = await GatewayServer.start({ fetch, certificate: serving })
    const socket = connect({ port: server.port, host: '127.0.0.1', ca: ca.cert, servername: 'localhost' })
    socket.on('error', () => {})
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await arrived.promise
    const closed = once(socket, 'close')
    await server.stop(20)
    await closed
  })

  it('says that its port is taken', async () => {
    const { serving } = await localCertificates()
    const first = await GatewayServer.start({ fetch: () => new Response(), certificate: serving })
    const second = GatewayServer.start({ fetch: () => new Response(), certificate: serving, port: first.port })
    await expect(second).rejects.toThrow('EADDRINUSE')
    await first.stop(0)
  })
})
