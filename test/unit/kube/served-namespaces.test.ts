import { describe, expect, it } from 'vitest'
import { ServedNamespaces, type Watched } from '../../../src/kube/served-namespaces.ts'

/** An informer whose state is set by hand. */
class Kind implements Watched {
  readonly type
  readonly store = { hasSynced: false }
  refusal: string | undefined
  readonly #handlers: (() => void)[] = []

  constructor(plural: string, apiVersion: string) {
    this.type = { apiVersion, kind: plural, plural, namespaced: true }
  }

  onStateChange(handler: () => void): void {
    this.#handlers.push(handler)
  }

  listed(): void {
    this.store.hasSynced = true
    this.refusal = undefined
    this.#tell()
  }

  refused(): void {
    this.refusal = 'forbidden'
    this.#tell()
  }

  #tell(): void {
    for (const handler of this.#handlers) handler()
  }
}

function world() {
  const told: [string, boolean][] = []
  const served = new ServedNamespaces((namespace, refusal) => told.push([namespace, refusal === undefined]))
  const kindsOf = (namespace: string) => {
    const kinds = { pods: new Kind('pods', 'v1'), jobs: new Kind('jobs', 'batch/v1') }
    for (const kind of Object.values(kinds)) served.add(namespace, kind)
    return kinds
  }
  return { served, told, a: kindsOf('team-a'), b: kindsOf('team-b') }
}

/** True when the promise has resolved by now. */
async function isResolved(promise: Promise<void>): Promise<boolean> {
  return Promise.race([promise.then(() => true), new Promise<boolean>((resolve) => setImmediate(resolve, false))])
}

describe('namespaces that are served', () => {
  it('are all where none were given', () => {
    const served = new ServedNamespaces(() => {})
    expect(served.serves('team-a')).toBe(true)
    expect([served.servesNone, served.refusals()]).toEqual([false, []])
  })

  it('are those of which every kind is listed, and no others', () => {
    const { served, told, a } = world()
    a.pods.listed()
    expect(served.serves('team-a')).toBe(false)
    a.jobs.listed()
    expect(['team-a', 'team-b', 'elsewhere'].map((name) => served.serves(name))).toEqual([true, false, false])
    expect(told).toEqual([['team-a', true]])
  })

  it('do not wait for one in which rights are missing, whose name and rights are told', async () => {
    const { served, told, a, b } = world()
    a.pods.listed()
    a.jobs.listed()
    expect(await isResolved(served.settled())).toBe(false)
    b.pods.listed()
    b.jobs.refused()
    expect(await isResolved(served.settled())).toBe(true)
    expect(told).toEqual([
      ['team-a', true],
      ['team-b', false],
    ])
    expect(served.refusals()).toEqual([
      'namespace team-b is not served: list and watch are forbidden there for jobs.batch; does the namespace exist, ' +
        'and are the Role and RoleBinding of this process in it?',
    ])
    expect(served.servesNone).toBe(false)
  })

  it('come back when the rights do, and are told once each time', () => {
    const { served, told, b } = world()
    b.pods.listed()
    b.jobs.refused()
    b.jobs.refused()
    b.jobs.listed()
    expect(served.serves('team-b')).toBe(true)
    b.pods.refused()
    expect(served.serves('team-b')).toBe(false)
    b.pods.listed()
    expect(told.map(([, isServed]) => isServed)).toEqual([false, true, false, true])
  })

  it('may be none at all', () => {
    const { served, a, b } = world()
    a.pods.refused()
    expect(served.servesNone).toBe(false)
    b.pods.refused()
    expect(served.servesNone).toBe(true)
  })
})
