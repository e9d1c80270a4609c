import { createPrivateKey, X509Certificate } from 'node:crypto'
import { installation } from '../api/installation.ts'
import { fieldManagers, labels, managedByValue } from '../api/labels.ts'
import type { KubeClient } from '../kube/client.ts'
import { type Secret, secretType, serviceType } from '../kube/core-types.ts'
import { isAlreadyExists, isConflict, isNotFound } from '../kube/error.ts'
import type { Clock } from './clock.ts'
import type { PemPair, ServingNames } from './x509.ts'

/** A certificate that cannot be used and that is not ours to replace. The message says what to do. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError'
}

export interface CertificatesOptions {
  /** The namespace that the operator is installed in. */
  readonly namespace: string
  readonly clock: Pick<Clock, 'now'>
  readonly signal?: AbortSignal | undefined
}

export interface Certificates {
  /** What pods and the manager check the gateway's certificate against. */
  readonly caPem: string
  /** When to call {@link ensureCertificates} again. */
  readonly renewAt: Date
}

const attempts = 5

/**
 * Sees to it that the gateway has a certificate: makes the operator's own CA at the first start, issues the serving
 * certificate, and renews either after two thirds of its life. Several managers may do this at once: creating a Secret
 * is the lock, and changing one is a compare-and-set. A serving certificate that somebody else keeps (cert-manager) is
 * left alone; its Secret must hold `ca.crt`.
 * @throws {CertificateError}
 */
export async function ensureCertificates(client: KubeClient, options: CertificatesOptions): Promise<Certificates> {
  const { namespace, clock } = options
  const foreign = await foreignCertificates(client, options)
  if (foreign !== undefined) return foreign
  // 70 ms to load: paid by the manager alone, and not by every command of the same bundle.
  const { makeCa, renewCa, issueServing } = await import('./x509.ts')

  const ca = await ensureSecret(client, installation.caSecret, options, {
    isGood: (pair) => !isDue(pair.cert, clock.now()),
    make: (present) => (present === undefined ? makeCa(clock.now()) : renewCa(present, clock.now())),
    extra: () => ({}),
  })
  const names = await servingNames(client, namespace, options.signal)
  const serving = await ensureSecret(client, installation.gatewayTlsSecret, options, {
    isGood: (pair) => isIssuedBy(pair.cert, ca.cert) && serves(pair.cert, names) && !isDue(pair.cert, clock.now()),
    make: () => issueServing(ca, names, clock.now()),
    extra: () => ({ 'ca.crt': ca.cert }),
  })
  return { caPem: ca.cert, renewAt: earlier(renewalOf(ca.cert), renewalOf(serving.cert)) }
}

/**
 * As {@link ensureCertificates}, for a process that was started with a CA: pods that it starts check the gateway by that.
 * @throws {CertificateError} when the CA has another key by now: who was started with the old one has to start again
 */
export async function confirmCertificates(
  client: KubeClient,
  startedWith: string,
  options: CertificatesOptions,
): Promise<Certificates> {
  const current = await ensureCertificates(client, options)
  if (keyOf(current.caPem) === keyOf(startedWith)) return current
  throw new CertificateReplaced('the CA was replaced by one with another key')
}

/**
 * Keeps the certificates fresh until the signal aborts. Failures are told and tried again a minute later.
 * @param startedWith the CA, as PEM, that this process gives to others
 * @throws {CertificateError} as {@link confirmCertificates}
 */
export async function keepCertificates(
  client: KubeClient,
  startedWith: string,
  options: CertificatesOptions & {
    readonly clock: Pick<Clock, 'now' | 'sleep'>
    readonly signal: AbortSignal
    readonly onError: (error: unknown) => void
  },
): Promise<void> {
  const { clock, signal } = options
  while (!signal.aborted) {
    const current = await confirmCertificates(client, startedWith, options).catch((error: unknown) => {
      if (error instanceof CertificateReplaced) throw error
      if (!signal.aborted) options.onError(error)
      return undefined
    })
    // Looks in at least once an hour, because somebody may have deleted a Secret.
    const due = current === undefined ? 0 : current.renewAt.getTime() - clock.now().getTime()
    await clock.sleep(Math.min(Math.max(due, 60_000), 3_600_000), signal).catch(() => {})
  }
}

class CertificateReplaced extends CertificateError {}

/** What is wanted of one of our two Secrets. */
interface Wanted {
  readonly isGood: (pair: PemPair) => boolean
  readonly make: (present: PemPair | undefined) => Promise<PemPair>
  readonly extra: () => Readonly<Record<string, string>>
}

async function ensureSecret(
  client: KubeClient,
  name: string,
  { namespace, signal }: CertificatesOptions,
  wanted: Wanted,
): Promise<PemPair> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const secret = await client.find(secretType, { namespace, name }, { signal })
    const present = secret && pairOf(secret)
    if (present !== undefined && wanted.isGood(present)) return present
    const pair = await wanted.make(present)
    const data = { 'tls.crt': pair.cert, 'tls.key': pair.key, ...wanted.extra() }
    try {
      if (secret === undefined) await create(client, namespace, name, data, signal)
      else await replace(client, secret, data, signal)
      return pair
    } catch (error) {
      if (!isAlreadyExists(error) && !isConflict(error) && !isNotFound(error)) throw error
    }
  }
  throw new CertificateError(`Secret ${namespace}/${name} changes too often to be kept; see who writes to it`)
}

async function create(
  client: KubeClient,
  namespace: string,
  name: string,
  data: Readonly<Record<string, string>>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const metadata = { name, namespace, labels: { [labels.managedBy]: managedByValue } }
  const secret: Secret = { ...secretIdentity, metadata, type: 'kubernetes.io/tls', data: encoded(data) }
  await client.create(secret, { fieldManager: fieldManagers.manager, signal })
}

/** The resourceVersion makes it a compare-and-set. */
async function replace(
  client: KubeClient,
  secret: Secret,
  data: Readonly<Record<string, string>>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { name, namespace = '', uid = '', resourceVersion = '' } = secret.metadata
  const patch = { metadata: { resourceVersion }, data: encoded(data) }
  const ref = { ...secretIdentity, name, namespace, uid }
  await client.mergePatch(ref, patch, { fieldManager: fieldManagers.manager, signal })
}

const secretIdentity = { apiVersion: secretType.apiVersion, kind: secretType.kind }

/** The serving certificate where it is not ours, which its label tells. */
async function foreignCertificates(
  client: KubeClient,
  { namespace, signal, clock }: CertificatesOptions,
): Promise<Certificates | undefined> {
  const secret = await client.find(secretType, { namespace, name: installation.gatewayTlsSecret }, { signal })
  if (secret === undefined || secret.metadata.labels?.[labels.managedBy] === managedByValue) return undefined
  const caPem = decoded(secret, 'ca.crt')
  if (caPem !== '') return { caPem, renewAt: new Date(clock.now().getTime() + 3_600_000) }
  throw new CertificateError(
    `Secret ${namespace}/${secret.metadata.name} is not kept by this operator and holds no ca.crt. ` +
      'Add the CA of its certificate as ca.crt, or delete the Secret to have another one made.',
  )
}

function pairOf(secret: Secret): PemPair {
  const pair = { cert: decoded(secret, 'tls.crt'), key: decoded(secret, 'tls.key') }
  try {
    if (new X509Certificate(pair.cert).checkPrivateKey(createPrivateKey(pair.key))) return pair
  } catch {
    // Said below: the reason may quote the key.
  }
  const { namespace, name } = secret.metadata
  throw new CertificateError(
    `Secret ${namespace}/${name} holds no certificate with its private key. Delete it to have another one made.`,
  )
}

async function servingNames(
  client: KubeClient,
  namespace: string,
  signal: AbortSignal | undefined,
): Promise<ServingNames> {
  const name = installation.gatewayService
  const dns = [name, `${name}.${namespace}`, `${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`]
  const service = await client.find(serviceType, { namespace, name }, { signal })
  const address = service?.spec.clusterIP
  return { dns, ip: address === undefined || address === '' || address === 'None' ? [] : [address] }
}

/** When two thirds of the certificate's life are over. */
export function renewalOf(cert: string): Date {
  const { validFromDate, validToDate } = new X509Certificate(cert)
  const from = validFromDate.getTime()
  return new Date(from + ((validToDate.getTime() - from) * 2) / 3)
}

/** True when it is time for the next certificate. */
export function isDue(cert: string, now: Date): boolean {
  return renewalOf(cert) <= now
}

/** True when the certificate names everything wanted. */
export function serves(cert: string, names: ServingNames): boolean {
  const certificate = new X509Certificate(cert)
  return (
    names.dns.every((name) => certificate.checkHost(name, { subject: 'never' }) !== undefined) &&
    names.ip.every((address) => certificate.checkIP(address) !== undefined)
  )
}

/** True when the key of this CA signed the certificate. */
export function isIssuedBy(cert: string, ca: string): boolean {
  const authority = new X509Certificate(ca)
  const certificate = new X509Certificate(cert)
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey)
}

function keyOf(cert: string): string {
  return new X509Certificate(cert).publicKey.export({ type: 'spki', format: 'pem' }).toString()
}

function earlier(a: Date, b: Date): Date {
  return a < b ? a : b
}

function decoded(secret: Secret, key: string): string {
  return Buffer.from(secret.data?.[key] ?? '', 'base64').toString()
}

function encoded(data: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]))
}
