import { createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto'
import { gatewayAudience } from '../api/run-api.ts'
import { isJsonObject, type JsonObject } from '../lib/json.ts'
import { type Caller, refused } from './callers.ts'

/** Keys of a set (RFC 7517), by what tokens name them. */
export type IssuerKeys = ReadonlyMap<string, KeyObject>

/** What a projected token says of its pod, once its signature, issuer, audience and times were found good. */
export interface TokenClaims extends Caller {
  readonly serviceAccountUID: string
}

interface Parts {
  readonly algorithm: string
  readonly keyId: string
  readonly claims: JsonObject
  readonly signed: Buffer
  readonly signature: Buffer
}

/** How the algorithms that the API server signs with are checked (RFC 7518). Anything else, `none` above all, is refused. */
const algorithms: Readonly<Record<string, { readonly hash: string; readonly type: 'rsa' | 'ec' }>> = {
  RS256: { hash: 'sha256', type: 'rsa' },
  RS384: { hash: 'sha384', type: 'rsa' },
  RS512: { hash: 'sha512', type: 'rsa' },
  ES256: { hash: 'sha256', type: 'ec' },
  ES384: { hash: 'sha384', type: 'ec' },
  ES512: { hash: 'sha512', type: 'ec' },
}

const bytesLimit = 16 * 1024

/** The public keys of a set. What cannot be used is left out: tokens that name it are refused. */
export function keysOf(set: unknown): IssuerKeys {
  const keys = isJsonObject(set) && Array.isArray(set.keys) ? set.keys : []
  return new Map(
    keys.flatMap((jwk): [string, KeyObject][] => {
      if (!isJsonObject(jwk) || typeof jwk.kid !== 'string') return []
      try {
        return [[jwk.kid, createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' })]]
      } catch {
        return []
      }
    }),
  )
}

/**
 * Name of the key that a token says it is signed with.
 * @throws {ApiError} `auth.invalid_token` for what is no token
 */
export function keyIdOf(token: string): string {
  return partsOf(token).keyId
}

/**
 * What a projected token says, if it is one of this issuer for the gateway, and valid at this time.
 * @throws {ApiError} `auth.invalid_token`
 */
export function claimsOf(token: string, issuer: string, key: KeyObject, now: Date): TokenClaims {
  const { algorithm, claims, signed, signature } = partsOf(token)
  const how = algorithms[algorithm]
  const isSigned =
    how !== undefined &&
    how.type === key.asymmetricKeyType &&
    verify(how.hash, signed, { key, dsaEncoding: 'ieee-p1363' }, signature)
  if (!isSigned || claims.iss !== issuer || !isCurrent(claims, now)) throw rejected()
  if (!Array.isArray(claims.aud) || !claims.aud.includes(gatewayAudience)) {
    throw refused('audience_mismatch', `the token is not for the audience ${gatewayAudience}`)
  }
  return podOf(claims)
}

function partsOf(token: string): Parts {
  const [header = '', payload = '', signature = '', ...more] = token.split('.')
  if (token.length > bytesLimit || more.length > 0 || signature === '') throw rejected()
  const { alg, kid } = decoded(header)
  if (typeof alg !== 'string' || typeof kid !== 'string') throw rejected()
  return {
    algorithm: alg,
    keyId: kid,
    claims: decoded(payload),
    signed: Buffer.from(`${header}.${payload}`),
    signature: Buffer.from(signature, 'base64url'),
  }
}

function decoded(part: string): JsonObject {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
    if (isJsonObject(value)) return value
  } catch {
    // Said below.
  }
  throw rejected()
}

function isCurrent({ exp, nbf }: JsonObject, now: Date): boolean {
  const seconds = now.getTime() / 1000
  return typeof exp === 'number' && seconds < exp && (typeof nbf !== 'number' || seconds >= nbf - clockSkewSeconds)
}

/** The API server's clock may be ahead of ours. */
const clockSkewSeconds = 10

function podOf(claims: JsonObject): TokenClaims {
  const { namespace, serviceaccount, pod } = isJsonObject(claims['kubernetes.io']) ? claims['kubernetes.io'] : {}
  const account = identityOf(serviceaccount)
  const bound = identityOf(pod)
  if (typeof namespace !== 'string' || account === undefined || bound === undefined) {
    throw refused('pod_required', 'the token is not the projected token of a pod')
  }
  return {
    namespace,
    serviceAccount: account.name,
    serviceAccountUID: account.uid,
    podName: bound.name,
    podUID: bound.uid,
  }
}

function identityOf(value: unknown): { name: string; uid: string } | undefined {
  if (!isJsonObject(value) || typeof value.name !== 'string' || typeof value.uid !== 'string') return undefined
  return { name: value.name, uid: value.uid }
}

/** The same for everything, so that nobody learns what to forge next. */
export function rejected(): Error {
  return refused('token_rejected', 'the token is not valid, has expired, or is for another audience')
}
