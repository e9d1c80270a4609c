import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { KubeClient } from '../../../src/kube/client.ts'
import {
  type ConfigMap,
  configMapType,
  type SubjectAccessReview,
  serviceAccountType,
  subjectAccessReviewType,
  type TokenRequest,
  type TokenReview,
  tokenReviewType,
} from '../../../src/kube/core-types.ts'
import {
  isAlreadyExists,
  isConflict,
  isForbidden,
  isInvalid,
  isNotFound,
  isTooLarge,
  KubeError,
} from '../../../src/kube/error.ts'
import type { KubeObject, ObjectRef } from '../../../src/lib/object.ts'
import { systemClock } from '../../../src/runtime/clock.ts'
import { GuardedClock } from '../../../src/runtime/guarded-clock.ts'
import { freshNamespace, testClient } from '../../kit/control-plane.ts'
import { type Widget, widget, widgetClient, widgetType } from './widget.ts'

const fieldManager = 'graphwright-manager'
let client: KubeClient
let namespace: string

beforeAll(async () => {
  client = await widgetClient()
  namespace = await freshNamespace(client)
})

afterAll(() => client.transport.close())

async function failure(promise: Promise<unknown>): Promise<KubeError> {
  const error = await promise.then(
    () => new Error('no error'),
    (reason: unknown) => reason,
  )
  if (error instanceof KubeError) return error
  throw error
}

function refOf(object: KubeObject, uid = object.metadata.uid): ObjectRef {
  const { apiVersion, kind, metadata } = object
  return { apiVersion, kind, name: metadata.name, namespace, ...(uid === undefined ? {} : { uid }) }
}

const place = (name: string) => ({ name, namespace })

describe('create', () => {
  test('a name is a lock: the second create is AlreadyExists', async () => {
    const created = await client.create(widget('lock', namespace, { size: 1 }), { fieldManager })
    expect(created).toMatchObject({ kind: 'Widget', metadata: { generation: 1 }, spec: { size: 1 } })
    const error = await failure(client.create(widget('lock', namespace)))
    expect(isAlreadyExists(error)).toBe(true)
    expect(isConflict(error)).toBe(false)
    expect(error.message).toBe('widgets.kube.test "lock" already exists')
  })

  test('generateName works without a name', async () => {
    const object = { ...widget('', namespace), metadata: { name: '', generateName: 'made-', namespace } }
    expect((await client.create(object)).metadata.name).toMatch(/^made-/)
  })

  test('a dry run stores nothing', async () => {
    await client.create(widget('dry', namespace), { dryRun: true })
    expect(isNotFound(await failure(client.get(widgetType, place('dry'))))).toBe(true)
  })

  test('an unknown field is refused', async () => {
    const object = widget('typo', namespace, { sise: 1 } as Widget['spec'])
    expect((await failure(client.create(object))).message).toContain('unknown field "spec.sise"')
  })

  test('a value of the wrong type is invalid, and names the field', async () => {
    const object = widget('wrong', namespace, { size: 'big' } as unknown as Widget['spec'])
    const error = await failure(client.create(object))
    expect(isInvalid(error)).toBe(true)
    expect(error.details?.causes?.[0]?.field).toBe('spec.size')
  })

  test.each([2, 4])('an object of %i MiB is too large, and is not tried again', async (mebibytes) => {
    const object = widget('huge', namespace, { text: 'x'.repeat(mebibytes * 1024 * 1024) })
    expect(isTooLarge(await failure(client.create(object)))).toBe(true)
  })
})

describe('list', () => {
  test('brings all pages, each item with its kind', async () => {
    const own = await freshNamespace(client)
    const names = Array.from({ length: 1_103 }, (_, i) => `m${i}`)
    await Promise.all(names.map((name) => client.create(configMap(name, own))))
    const { items, resourceVersion } = await client.list(configMapType, { namespace: own })
    expect(items.filter(({ metadata }) => metadata.name.startsWith('m'))).toHaveLength(1_103)
    expect(items[0]).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' })
    expect(BigInt(resourceVersion)).toBeGreaterThan(0n)
  })

  test('by label and by field', async () => {
    const object = configMap('chosen', namespace)
    object.metadata.labels = { colour: 'red' }
    await client.create(object)
    await client.create(configMap('other', namespace))
    const byLabel = await client.list(configMapType, { namespace, labelSelector: 'colour=red' })
    const byField = await client.list(configMapType, { namespace, fieldSelector: 'metadata.name=chosen' })
    expect(byLabel.items.map(({ metadata }) => metadata.name)).toEqual(['chosen'])
    expect(byField.items.map(({ metadata }) => metadata.name)).toEqual(['chosen'])
  })
})

function configMap(name: string, where: string): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: where }, data: {} }
}

describe('server-side apply', () => {
  test('applying the same again changes nothing, not even the version', async () => {
    const first = await client.apply(widget('same', namespace, { size: 1 }), { fieldManager })
    const second = await client.apply(first, { fieldManager })
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion)
  })

  test('a field that is no longer applied goes away; those of others stay', async () => {
    await client.apply(widget('merge', namespace, { size: 1, colour: 'red' }), { fieldManager })
    await client.apply(widget('merge', namespace, { text: 'theirs' }), { fieldManager: 'other' })
    const object = await client.apply(widget('merge', namespace, { size: 2 }), { fieldManager })
    expect(object.spec).toEqual({ size: 2, text: 'theirs' })
  })

  test('without force, a field of another manager is a conflict', async () => {
    await client.apply(widget('force', namespace, { size: 1 }), { fieldManager: 'other' })
    const apply = client.apply(widget('force', namespace, { size: 2 }), { fieldManager, force: false })
    expect(isConflict(await failure(apply))).toBe(true)
  })

  test('with a uid it never brings a deleted object back', async () => {
    const object = await client.apply(widget('gone', namespace, { size: 1 }), { fieldManager })
    await client.delete(refOf(object))
    expect(isConflict(await failure(client.apply(object, { fieldManager })))).toBe(true)
    expect(isNotFound(await failure(client.get(widgetType, place('gone'))))).toBe(true)
  })

  test('an unknown field is refused', async () => {
    const object = widget('typo', namespace, { sise: 1 } as Widget['spec'])
    const error = await failure(client.apply(object, { fieldManager }))
    expect([400, 500]).toContain(error.status)
    expect(error.message).toContain('sise')
  })

  test('status in an apply of the object is left out', async () => {
    const object = { ...widget('spec-only', namespace), status: { seen: 1 } }
    expect((await client.apply(object, { fieldManager })).status).toBeUndefined()
  })
})

describe('status apply', () => {
  test('is a compare-and-set: a stale version is a conflict, and nothing is lost', async () => {
    const object = await client.create(widget('status', namespace), { fieldManager })
    const first = await client.applyStatus({ ...object, status: { seen: 1 } }, { fieldManager })
    const second = await client.applyStatus({ ...first, status: { seen: 1, note: 'kept' } }, { fieldManager })
    const stale = { ...first, status: { seen: 2 } }
    expect(isConflict(await failure(client.applyStatus(stale, { fieldManager })))).toBe(true)
    expect((await client.get(widgetType, place('status'))).status).toEqual({ seen: 1, note: 'kept' })
    expect(second.metadata.generation).toBe(1)
  })

  test('of the same status changes nothing, not even the version', async () => {
    const object = await client.create(widget('steady', namespace), { fieldManager })
    const first = await client.applyStatus({ ...object, status: { seen: 1 } }, { fieldManager })
    const second = await client.applyStatus({ ...first, status: { seen: 1 } }, { fieldManager })
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion)
  })

  test('of an object that is gone is NotFound, or a conflict with its successor', async () => {
    const object = await client.create(widget('succession', namespace), { fieldManager })
    await client.delete(refOf(object))
    const status = { ...object, status: { seen: 1 } }
    expect(isNotFound(await failure(client.applyStatus(status, { fieldManager })))).toBe(true)
    await client.create(widget('succession', namespace))
    expect((await failure(client.applyStatus(status, { fieldManager }))).status).toBeOneOf([409, 422])
    expect((await client.get(widgetType, place('succession'))).status).toBeUndefined()
  })

  test('without a version is refused before it is sent', async () => {
    await expect(client.applyStatus(widget('never', namespace), { fieldManager })).rejects.toThrow(TypeError)
  })
})

describe('patches', () => {
  test('JSON patch', async () => {
    const object = await client.create(widget('patch', namespace, { size: 1 }))
    await client.patchJson(refOf(object), [{ op: 'replace', path: '/spec/size', value: 2 }], { fieldManager })
    expect((await client.get(widgetType, place('patch'))).spec.size).toBe(2)
  })

  test('merge patch, of the status too', async () => {
    const object = await client.create(widget('merge-patch', namespace, { size: 1, colour: 'red' }))
    await client.mergePatch(refOf(object), { spec: { colour: null } })
    await client.mergePatch(refOf(object), { status: { note: 'n' } }, { subresource: 'status' })
    const { spec, status } = await client.get(widgetType, place('merge-patch'))
    expect({ spec, status }).toEqual({ spec: { size: 1 }, status: { note: 'n' } })
  })

  test('a uid of another object refuses both', async () => {
    const object = await client.create(widget('patch-uid', namespace, { size: 1 }))
    const stranger = refOf(object, '11111111-1111-1111-1111-111111111111')
    const json = client.patchJson(stranger, [{ op: 'replace', path: '/spec/size', value: 2 }])
    expect((await failure(json)).status).toBeOneOf([409, 422])
    expect((await failure(client.mergePatch(stranger, { spec: { size: 2 } }))).status).toBeOneOf([409, 422])
    expect((await client.get(widgetType, place('patch-uid'))).spec.size).toBe(1)
  })
})

describe('delete', () => {
  test('what is gone is fine', async () => {
    await client.delete(refOf(widget('never-was', namespace)))
  })

  test('a uid of another object is a conflict, and the object stays', async () => {
    const object = await client.create(widget('delete-uid', namespace))
    const error = await failure(client.delete(refOf(object, '11111111-1111-1111-1111-111111111111')))
    expect(isConflict(error)).toBe(true)
    await client.get(widgetType, place('delete-uid'))
  })
})

describe('a service account', () => {
  test('gets a token, which the server reviews, and whose rights it tells', async () => {
    const { apiVersion, kind } = serviceAccountType
    const account = await client.create({ apiVersion, kind, metadata: place('runner') })
    const request = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { audiences: ['graphwright'] },
    }
    const { status } = await client.createSubresource<TokenRequest>(refOf(account), 'token', request)

    const review = await client.create<TokenReview>({
      apiVersion: tokenReviewType.apiVersion,
      kind: tokenReviewType.kind,
      metadata: { name: '' },
      spec: { token: status?.token ?? '', audiences: ['graphwright'] },
    })
    expect(review.status).toMatchObject({ authenticated: true, audiences: ['graphwright'] })
    const user = review.status?.user?.username ?? ''
    expect(user).toBe(`system:serviceaccount:${namespace}:runner`)

    const access = await client.create<SubjectAccessReview>({
      apiVersion: subjectAccessReviewType.apiVersion,
      kind: subjectAccessReviewType.kind,
      metadata: { name: '' },
      spec: { user, resourceAttributes: { namespace, verb: 'get', resource: 'secrets' } },
    })
    expect(access.status?.allowed).toBe(false)
  })
})

describe('the server', () => {
  test('tells its version and that it is ready', async () => {
    expect((await client.version()).gitVersion).toMatch(/^v1\./)
    await client.ready()
  })

  test('tells its time, which is that of this machine', async () => {
    const clock = new GuardedClock(systemClock)
    const timed = testClient({ onTime: (answer) => clock.hear(answer) })
    for (let n = 0; n < 20; n++) await timed.version()
    await timed.transport.close()
    const { low, high } = clock.skew ?? { low: 1, high: -1 }
    expect(low).toBeLessThanOrEqual(0)
    expect(high).toBeGreaterThanOrEqual(0)
    expect(high - low).toBeLessThan(1500)
  })

  test('refuses a user without rights, and says what is missing', async () => {
    const mallory = testClient({ user: 'mallory' })
    const error = await failure(mallory.list(configMapType, { namespace }))
    await mallory.transport.close()
    expect(isForbidden(error)).toBe(true)
    expect(error.message).toContain('User "mallory" cannot list resource "configmaps"')
  })
})
