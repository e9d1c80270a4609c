import { X509Certificate } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { isDue, isIssuedBy, renewalOf, serves } from '../../../src/runtime/certificates.ts'
import { issueServing, makeCa, renewCa } from '../../../src/runtime/x509.ts'

const now = new Date('2026-11-30T12:00:00Z')
const days = (n: number) => new Date(now.getTime() + n * 86_400_000)
const names = { dns: ['graphwright-gateway', 'graphwright-gateway.gw.svc'], ip: ['10.96.7.7'] }

describe('certificates', () => {
  it('name what the gateway is called, and nothing else', async () => {
    const { cert } = await issueServing(await makeCa(now), names, now)
    expect(new X509Certificate(cert).subjectAltName?.split(', ')).toEqual([
      'DNS:graphwright-gateway',
      'DNS:graphwright-gateway.gw.svc',
      'IP Address:10.96.7.7',
    ])
    expect(serves(cert, names)).toBe(true)
    expect(serves(cert, { dns: names.dns, ip: ['10.96.7.8'] })).toBe(false)
    expect(serves(cert, { dns: ['other'], ip: [] })).toBe(false)
  })

  it('are signed by the CA that issued them', async () => {
    const [ca, other] = [await makeCa(now), await makeCa(now)]
    const { cert } = await issueServing(ca, names, now)
    expect(isIssuedBy(cert, ca.cert)).toBe(true)
    expect(isIssuedBy(cert, other.cert)).toBe(false)
    expect(new X509Certificate(cert).ca).toBe(false)
    expect(new X509Certificate(ca.cert).ca).toBe(true)
  })

  it('are due after two thirds of their life', async () => {
    const { cert } = await issueServing(await makeCa(now), names, now)
    expect(isDue(cert, days(59))).toBe(false)
    expect(isDue(cert, days(61))).toBe(true)
    expect(renewalOf(cert).getTime()).toBeLessThan(new X509Certificate(cert).validToDate.getTime())
  })

  it('of a renewed CA are accepted by those who trust the older certificate, and the other way round', async () => {
    const ca = await makeCa(now)
    const renewed = await renewCa(ca, days(2500))
    expect(new X509Certificate(renewed.cert).validToDate > new X509Certificate(ca.cert).validToDate).toBe(true)
    const later = await issueServing(renewed, names, days(2500))
    const earlier = await issueServing(ca, names, now)
    expect(isIssuedBy(later.cert, ca.cert)).toBe(true)
    expect(isIssuedBy(earlier.cert, renewed.cert)).toBe(true)
  })
})
