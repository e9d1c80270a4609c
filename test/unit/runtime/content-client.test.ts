import { describe, expect, it, onTestFinished } from 'vitest'
import { digestBytes } from '../../../src/lib/digest.ts'
import { systemClock } from '../../../src/runtime/clock.ts'
import { ContentClient } from '../../../src/runtime/content-client.ts'
import { GatewayConnection } from '../../../src/runtime/gateway-connection.ts'
import { localCertificates } from '../../kit/certificates.ts'
import { type LocalGateway, startLocalGateway } from '../../kit/local-gateway.ts'
import { temporaryFolder } from '../../kit/temporary-folder.ts'

interface Changes {
  readonly tokenFile?: string
  readonly patienceMillis?: number
}

function clientOf(local: LocalGateway, { tokenFile = local.managerTokenFile, ...changes }: Changes = {}) {
  const gateway = new GatewayConnection({ url: local.url, caPem: local.certificates.ca.cert, tokenFile })
  onTestFinished(() => gateway.close())
  return new ContentClient({ gateway, clock: systemClock, ...changes })
}

describe('content client', () => {
  it('keeps texts and reads them back as they were', async () => {
    const client = clientOf(await startLocalGateway())
    const text = `\uFEFF${'große Ausgabe '.repeat(1000)}`
    const content = await client.put(text)
    expect(content).toEqual({ digest: digestBytes(text), size: Buffer.byteLength(text) })
    expect(await client.get(content.digest)).toBe(text)
  })

  it('says that a content is missing, at once', async () => {
    const client = clientOf(await startLocalGateway())
    const error = await client.get(digestBytes('never put')).catch((e: unknown) => e)
    expect(error).toMatchObject({ failure: 'missing' })
  })

  it('says why the gateway refuses, at once', async () => {
    const gateway = await startLocalGateway()
    const client = clientOf(gateway, { tokenFile: gateway.podTokenFile })
    const error = await client.put('text').catch((e: unknown) => e)
    expect(error).toMatchObject({ failure: 'refused' })
    expect((error as Error).message).toContain('for the operator alone')
  })

  it('waits for a gateway that restarts', async () => {
    const certificates = await localCertificates()
    const folder = temporaryFolder()
    const first = await startLocalGateway({ certificates, folder })
    const client = clientOf(first)
    const { digest } = await client.put('kept')
    await first.server.stop(0)
    const text = client.get(digest)
    await startLocalGateway({ certificates, folder, port: first.port })
    expect(await text).toBe('kept')
  })

  it('gives up in time and says what it tried', async () => {
    const gateway = await startLocalGateway()
    await gateway.server.stop(0)
    const client = clientOf(gateway, { patienceMillis: 150 })
    const error = await client.get(digestBytes('x')).catch((e: unknown) => e)
    expect(error).toMatchObject({ failure: 'unavailable' })
    expect((error as Error).message).toContain(gateway.url)
  })

  it('stops trying when it is told to', async () => {
    const gateway = await startLocalGateway()
    await gateway.server.stop(0)
    const stop = new AbortController()
    const asked = clientOf(gateway).get(digestBytes('x'), stop.signal)
    stop.abort(new Error('stopping'))
    await expect(asked).rejects.toThrow('stopping')
  })
})
