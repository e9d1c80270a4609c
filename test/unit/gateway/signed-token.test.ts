import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { claimsOf, keyIdOf, keysOf } from '../../../src/gateway/signed-token.ts'

const issuer = 'https://kubernetes.default.svc.cluster.local'
const now = new Date('2026-03-01T12:00:00Z')
const seconds = now.getTime() / 1000

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const other = generateKeyPairSync('rsa', { modulusLength: 2048 })

const claims = {
  iss: issuer,
  aud: ['graphwright'],
  exp: seconds + 3600,
  nbf: seconds,
  'kubernetes.io': {
    namespace: 'team-a',
    serviceaccount: { name: 'graphwright-runner', uid: 'account-1' },
    pod: { name: 'work-x', uid: 'pod-1' },
  },
}

function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

interface Making {
  readonly claims?: object
  readonly header?: object
  readonly key?: KeyObject
}

/** A token as the API server makes it, but for what is given. */
function token({ claims: given = {}, header = {}, key = rsa.privateKey }: Making = {}): string {
  const alg = key.asymmetricKeyType === 'ec' ? 'ES256' : 'RS256'
  const signed = `${encoded({ alg, kid: 'key-1', ...header })}.${encoded({ ...claims, ...given })}`
  return `${signed}.${sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
}

function outcome(text: string, key: KeyObject = rsa.publicKey): unknown {
  try {
    return claimsOf(text, issuer, key, now)
  } catch (error) {
    return (error as { code?: string }).code ?? error
  }
}

const good = {
  namespace: 'team-a',
  serviceAccount: 'graphwright-runner',
  serviceAccountUID: 'account-1',
  podName: 'work-x',
  podUID: 'pod-1',
}

/** The header replaced under the same signature. */
function withHeader(text: string, header: object): string {
  return [encoded(header), ...text.split('.').slice(1)].join('.')
}

describe('a projected token', () => {
  it('says which pod it belongs to, whether RSA or an elliptic curve signed it', () => {
    expect(outcome(token())).toEqual(good)
    expect(outcome(token({ key: ec.privateKey }), ec.publicKey)).toEqual(good)
  })

  const { 'kubernetes.io': bound } = claims
  it.each([
    ['another key signed it', token({ key: other.privateKey }), 'token_rejected'],
    ['nobody signed it', `${token().split('.').slice(0, 2).join('.')}.`, 'token_rejected'],
    ['it says that it needs no signature', withHeader(token(), { alg: 'none', kid: 'key-1' }), 'token_rejected'],
    ['it names a shared secret', withHeader(token(), { alg: 'HS256', kid: 'key-1' }), 'token_rejected'],
    ['it names the wrong kind of key', withHeader(token(), { alg: 'ES256', kid: 'key-1' }), 'token_rejected'],
    ['it names a member of every object', withHeader(token(), { alg: 'toString', kid: 'key-1' }), 'token_rejected'],
    ['another issuer made it', token({ claims: { iss: 'https://elsewhere' } }), 'token_rejected'],
    ['it has expired', token({ claims: { exp: seconds } }), 'token_rejected'],
    ['it never expires', token({ claims: { exp: undefined } }), 'token_rejected'],
    ['its time has not come', token({ claims: { nbf: seconds + 60 } }), 'token_rejected'],
    ['it is for somebody else', token({ claims: { aud: ['vault'] } }), 'audience_mismatch'],
    ['its audience only contains the name', token({ claims: { aud: 'graphwright' } }), 'audience_mismatch'],
    ['it is of no pod', token({ claims: { 'kubernetes.io': { ...bound, pod: undefined } } }), 'pod_required'],
    ['it is of no ServiceAccount', token({ claims: { 'kubernetes.io': undefined } }), 'pod_required'],
    ['it is no token', 'hello', 'token_rejected'],
    ['it is no JSON', 'a.b.c', 'token_rejected'],
    ['it is too long', token({ claims: { more: 'x'.repeat(20_000) } }), 'token_rejected'],
  ])('is refused where %s', (_, text, code) => {
    expect(outcome(text)).toBe(code)
  })

  it('is refused when a letter of it was changed', () => {
    const [header, , signature] = token().split('.')
    expect(outcome([header, encoded({ ...claims, sub: 'x' }), signature].join('.'))).toBe('token_rejected')
  })

  it('names its key', () => {
    expect(keyIdOf(token({ header: { kid: 'key-2' } }))).toBe('key-2')
  })
})

describe('the keys of an issuer', () => {
  it('are found by their name, and what is no key is left out', () => {
    const jwk = rsa.publicKey.export({ format: 'jwk' })
    const keys = keysOf({ keys: [{ ...jwk, kid: 'key-1' }, { kty: 'oct', k: 'c2VjcmV0', kid: 'shared' }, jwk, null] })
    expect([...keys.keys()]).toEqual(['key-1'])
    const key = keys.get('key-1')
    expect(key && outcome(token(), key)).toEqual(good)
  })

  it.each([undefined, [], { keys: 'none' }])('are none in %s', (set) => {
    expect(keysOf(set).size).toBe(0)
  })
})
