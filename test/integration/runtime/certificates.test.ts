import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { describe, expect, it } from 'vitest'
import { kinds } from '../../../src/api/kinds.ts'
import { ContentFiles } from '../../../src/gateway/contents.ts'
import { Gateway } from '../../../src/gateway/gateway.ts'
import { type Secret, secretType, serviceType } from '../../../src/kube/core-types.ts'
import {
  confirmCertificates,
  ensureCertificates,
  isIssuedBy,
  keepCertificates,
  serves,
} from '../../../src/runtime/certificates.ts'
import { systemClock } from '../../../src/runtime/clock.ts'
import { silentLogger } from '../../../src/runtime/log.ts'
import { freshNamespace, testClient } from '../../kit/control-plane.ts'
import { installCrds } from '../../kit/crds.ts'
import { eventually } from '../../kit/eventually.ts'
import { FakeClock } from '../../kit/fake-clock.ts'

const client = testClient({ types: kinds })
const dayMillis = 86_400_000

const secretOf = (namespace: string, name: string) => client.get(secretType, { namespace, name })
const entry = (secret: Secret, key: string) => Buffer.from(secret.data?.[key] ?? '', 'base64').toString()

function later(days: number): FakeClock {
  return new FakeClock(new Date(Date.now() + days * dayMillis))
}

describe('certificates', () => {
  it('are made once, however many managers start at the same time', async () => {
    const namespace = await freshNamespace(client)
    const made = await Promise.all(
      Array.from({ length: 4 }, () => ensureCertificates(client, { namespace, clock: systemClock })),
    )
    const ca = entry(await secretOf(namespace, 'graphwright-ca'), 'tls.crt')
    expect(made.map(({ caPem }) => caPem)).toEqual([ca, ca, ca, ca])
    const serving = await secretOf(namespace, 'graphwright-gateway-tls')
    expect(serving.type).toBe('kubernetes.io/tls')
    expect(isIssuedBy(entry(serving, 'tls.crt'), ca)).toBe(true)
    const host = `graphwright-gateway.${namespace}.svc`
    expect(serves(entry(serving, 'tls.crt'), { dns: [host, `${host}.cluster.local`], ip: [] })).toBe(true)
    const before = serving.metadata.resourceVersion
    await ensureCertificates(client, { namespace, clock: systemClock })
    expect((await secretOf(namespace, 'graphwright-gateway-tls')).metadata.resourceVersion).toBe(before)
  })

  it('name the address of the Service as soon as it has one', async () => {
    const namespace = await freshNamespace(client)
    await ensureCertificates(client, { namespace, clock: systemClock })
    const { apiVersion, kind } = serviceType
    const metadata = { name: 'graphwright-gateway', namespace }
    const service = await client.create({ apiVersion, kind, metadata, spec: { ports: [{ port: 8443 }] } })
    await ensureCertificates(client, { namespace, clock: systemClock })
    const serving = entry(await secretOf(namespace, 'graphwright-gateway-tls'), 'tls.crt')
    const { clusterIP = '' } = (await client.get(serviceType, metadata)).spec
    expect(clusterIP).not.toBe('')
    expect(serves(serving, { dns: [], ip: [clusterIP] })).toBe(true)
    expect(service.metadata.name).toBe('graphwright-gateway')
  })

  it('are renewed after two thirds of their life under the same CA, and served without a restart', async () => {
    await installCrds(client)
    const namespace = await freshNamespace(client)
    const { caPem, renewAt } = await ensureCertificates(client, { namespace, clock: later(-61) })
    const folder = mkdtempSync(join(tmpdir(), 'graphwright-certificates-'))
    const contents = await ContentFiles.open(folder)
    const complaints: string[] = []
    const log = { ...silentLogger, error: (_fields: object, message: string) => complaints.push(message) }
    const gateway = new Gateway({ client, contents, namespace, clock: systemClock, log })
    await gateway.start()
    try {
      const before = await servedSerial(gateway.port, namespace, caPem)
      const renewed = await ensureCertificates(client, { namespace, clock: systemClock })
      expect(renewed.renewAt > renewAt).toBe(true)
      expect(renewed.caPem).toBe(caPem)
      await eventually(async () => {
        expect(await servedSerial(gateway.port, namespace, caPem)).not.toBe(before)
      })
      const after = await servedSerial(gateway.port, namespace, caPem)
      await breakKey(namespace)
      await eventually(() => complaints.length > 0)
      expect(await servedSerial(gateway.port, namespace, caPem)).toBe(after)
    } finally {
      await gateway.stop(0)
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('of a CA that was renewed are accepted by those who know the older certificate only', async () => {
    const namespace = await freshNamespace(client)
    const { caPem } = await ensureCertificates(client, { namespace, clock: systemClock })
    const renewed = await ensureCertificates(client, { namespace, clock: later(2600) })
    expect(renewed.caPem).not.toBe(caPem)
    expect(isIssuedBy(entry(await secretOf(namespace, 'graphwright-gateway-tls'), 'tls.crt'), caPem)).toBe(true)
  })

  it('of somebody else are used and left alone', async () => {
    const [namespace, other] = await Promise.all([freshNamespace(client), freshNamespace(client)])
    await ensureCertificates(client, { namespace: other, clock: systemClock })
    const theirs = await secretOf(other, 'graphwright-gateway-tls')
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'kubernetes.io/tls',
      ...(theirs.data && { data: theirs.data }),
    }
    await client.create<Secret>({ ...secret, metadata: { name: 'graphwright-gateway-tls', namespace } })
    const { caPem } = await ensureCertificates(client, { namespace, clock: later(61) })
    expect(caPem).toBe(entry(theirs, 'ca.crt'))
    expect((await secretOf(namespace, 'graphwright-gateway-tls')).data).toEqual(theirs.data)
    await expect(secretOf(namespace, 'graphwright-ca')).rejects.toThrow('not found')
  })

  it('that cannot be used are not overwritten: the message says what to do', async () => {
    const namespace = await freshNamespace(client)
    const metadata = { name: 'graphwright-ca', namespace }
    const data = { 'tls.crt': btoa('no certificate'), 'tls.key': btoa('no key') }
    await client.create<Secret>({ apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/tls', metadata, data })
    const made = ensureCertificates(client, { namespace, clock: systemClock })
    await expect(made).rejects.toThrow(
      `Secret ${namespace}/graphwright-ca holds no certificate with its private key. Delete`,
    )
  })

  it('of a CA that somebody deleted end the process that was started with it', async () => {
    const namespace = await freshNamespace(client)
    const { caPem } = await ensureCertificates(client, { namespace, clock: systemClock })
    const clock = later(0)
    const stop = new AbortController()
    const errors: unknown[] = []
    const onError = (error: unknown) => errors.push(error)
    const kept = keepCertificates(client, caPem, { namespace, clock, signal: stop.signal, onError })
    const ended = kept.catch((error: unknown) => error)
    await eventually(() => clock.pending === 1)
    await client.delete({ apiVersion: 'v1', kind: 'Secret', namespace, name: 'graphwright-ca' })
    clock.tick(3_600_000)
    expect(await ended).toMatchObject({ name: 'CertificateError' })
    expect(errors).toEqual([])
    stop.abort()
  })

  it('of a CA that somebody deleted while a process stood by do not let it lead', async () => {
    const namespace = await freshNamespace(client)
    const { caPem } = await ensureCertificates(client, { namespace, clock: systemClock })
    await confirmCertificates(client, caPem, { namespace, clock: later(2600) })
    await client.delete({ apiVersion: 'v1', kind: 'Secret', namespace, name: 'graphwright-ca' })
    const confirmed = confirmCertificates(client, caPem, { namespace, clock: systemClock })
    await expect(confirmed).rejects.toThrow('the CA was replaced by one with another key')
  })
})

/** What a slip of the hand leaves: a key that does not belong to the certificate. */
async function breakKey(namespace: string): Promise<void> {
  const ref = { apiVersion: 'v1', kind: 'Secret', namespace, name: 'graphwright-gateway-tls' }
  const { data } = await secretOf(namespace, 'graphwright-ca')
  await client.mergePatch(ref, { data: { 'tls.key': data?.['tls.key'] ?? '' } })
}

async function servedSerial(port: number, namespace: string, ca: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', ca, servername: `graphwright-gateway.${namespace}.svc` })
  await once(socket, 'secureConnect')
  const { serialNumber } = socket.getPeerCertificate()
  socket.destroy()
  return serialNumber
}
