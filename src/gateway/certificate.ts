import { X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import { installation } from '../api/installation.ts'
import type { KubeClient } from '../kube/client.ts'
import { type Secret, secretType } from '../kube/core-types.ts'
import { Informer } from '../kube/informer.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import type { ServingCertificate } from './server.ts'

/**
 * Follows the serving certificate in its Secret, which the manager writes. One Secret is watched by name, so that the
 * gateway needs permission for that one alone, and never sees the CA's key.
 */
export class CertificateSource {
  readonly #informer: Informer<Secret>
  readonly #first = Promise.withResolvers<ServingCertificate>()
  #ends: ReadonlyMap<string, Date> = new Map()
  #handler: ((certificate: ServingCertificate) => void) | undefined

  /** @param onProblem told why a certificate in the Secret cannot be used; the one before stays in use */
  constructor(client: KubeClient, namespace: string, onProblem: (error: unknown) => void) {
    const fieldSelector = `metadata.name=${installation.gatewayTlsSecret}`
    this.#informer = new Informer(client, secretType, { namespace, fieldSelector })
    this.#informer.onChange(({ type, object }) => {
      const certificate = type === 'deleted' ? undefined : certificateOf(object)
      if (certificate === undefined || !isUsable(certificate, onProblem)) return
      this.#ends = endsOf(certificate, decoded(object.data?.['ca.crt']))
      this.#first.resolve(certificate)
      this.#handler?.(certificate)
    })
  }

  /** Resolves with the first certificate, as soon as there is one. */
  get first(): Promise<ServingCertificate> {
    return this.#first.promise
  }

  /** When the certificate in use ends, and the CA beside it; empty before the first. */
  get ends(): ReadonlyMap<string, Date> {
    return this.#ends
  }

  /** Called for every later certificate. */
  onReplaced(handler: (certificate: ServingCertificate) => void): void {
    this.#handler = handler
  }

  start(signal: AbortSignal): Promise<void> {
    return this.#informer.start(signal)
  }
}

function certificateOf(secret: DeepReadonly<Secret>): ServingCertificate | undefined {
  const cert = decoded(secret.data?.['tls.crt'])
  const key = decoded(secret.data?.['tls.key'])
  return cert === undefined || key === undefined ? undefined : { cert, key }
}

function isUsable(certificate: ServingCertificate, onProblem: (error: unknown) => void): boolean {
  try {
    createSecureContext({ ...certificate })
    return true
  } catch (error) {
    onProblem(error)
    return false
  }
}

function endsOf({ cert }: ServingCertificate, ca: string | undefined): ReadonlyMap<string, Date> {
  const serving: [string, Date] = ['serving', new X509Certificate(cert).validToDate]
  const authority = ca === undefined ? undefined : endOf(ca)
  return new Map(authority === undefined ? [serving] : [serving, ['ca', authority]])
}

/** What somebody else keeps there may be anything. */
function endOf(pem: string): Date | undefined {
  try {
    return new X509Certificate(pem).validToDate
  } catch {
    return undefined
  }
}

function decoded(value: string | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : Buffer.from(value, 'base64').toString()
}
