import { issueServing, makeCa, type PemPair } from '../../src/runtime/x509.ts'

/** A CA, and a certificate of it for servers on this machine. */
export interface LocalCertificates {
  readonly ca: PemPair
  readonly serving: PemPair
}

/** Makes a new CA each time: clients that trust one refuse the servers of another. */
export async function localCertificates(now: Date = new Date()): Promise<LocalCertificates> {
  const ca = await makeCa(now)
  const serving = await issueServing(ca, { dns: ['localhost'], ip: ['127.0.0.1'] }, now)
  return { ca, serving }
}
