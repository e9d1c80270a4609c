import 'reflect-metadata'
import { createPrivateKey, type webcrypto } from 'node:crypto'
import * as x509 from '@peculiar/x509'

/** A certificate and its private key (PKCS 8), both PEM. */
export interface PemPair {
  readonly cert: string
  readonly key: string
}

/** What a serving certificate is good for. */
export interface ServingNames {
  readonly dns: readonly string[]
  readonly ip: readonly string[]
}

const dayMillis = 86_400_000
const caDays = 3650
const servingDays = 90
/** Clocks of other machines may be behind. */
const backdateMillis = 3_600_000

const keyAlgorithm = { name: 'ECDSA', namedCurve: 'P-256' } as const
const signingAlgorithm = { name: 'ECDSA', hash: 'SHA-256' } as const
const caSubject = 'CN=graphwright-ca'

/** Makes a certificate authority with a new key, good for ten years. */
export async function makeCa(now: Date): Promise<PemPair> {
  const keys = await crypto.subtle.generateKey(keyAlgorithm, true, ['sign', 'verify'])
  return selfSign(keys, now)
}

/**
 * The same authority with a later end: key and subject stay, so whoever trusts the older certificate accepts what is
 * signed from now on.
 */
export async function renewCa(ca: PemPair, now: Date): Promise<PemPair> {
  return selfSign(await importKeys(ca), now)
}

/** Issues a serving certificate with a new key, good for 90 days. */
export async function issueServing(ca: PemPair, names: ServingNames, now: Date): Promise<PemPair> {
  const authority = await importKeys(ca)
  const keys = await crypto.subtle.generateKey(keyAlgorithm, true, ['sign', 'verify'])
  const alternatives = [
    ...names.dns.map((value) => ({ type: 'dns' as const, value })),
    ...names.ip.map((value) => ({ type: 'ip' as const, value })),
  ]
  const { digitalSignature } = x509.KeyUsageFlags
  const certificate = await x509.X509CertificateGenerator.create({
    subject: `CN=${names.dns[0] ?? 'graphwright'}`,
    issuer: new x509.X509Certificate(ca.cert).subject,
    ...validity(now, servingDays),
    publicKey: keys.publicKey,
    signingKey: authority.privateKey,
    signingAlgorithm,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(alternatives),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(authority.publicKey),
    ],
  })
  return { cert: certificate.toString('pem'), key: await exportKey(keys.privateKey) }
}

async function selfSign(keys: webcrypto.CryptoKeyPair, now: Date): Promise<PemPair> {
  const { keyCertSign, cRLSign } = x509.KeyUsageFlags
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: caSubject,
    ...validity(now, caDays),
    keys,
    signingAlgorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(keyCertSign | cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return { cert: certificate.toString('pem'), key: await exportKey(keys.privateKey) }
}

function validity(now: Date, days: number) {
  return {
    notBefore: new Date(now.getTime() - backdateMillis),
    notAfter: new Date(now.getTime() + days * dayMillis),
  }
}

async function importKeys({ cert, key }: PemPair): Promise<webcrypto.CryptoKeyPair> {
  const pkcs8 = createPrivateKey(key).export({ type: 'pkcs8', format: 'der' })
  const privateKey = await crypto.subtle.importKey('pkcs8', pkcs8, keyAlgorithm, true, ['sign'])
  const publicKey = await new x509.X509Certificate(cert).publicKey.export(keyAlgorithm, ['verify'])
  return { privateKey, publicKey }
}

async function exportKey(key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await crypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY')
}
